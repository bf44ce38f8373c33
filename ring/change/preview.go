package change

import (
	"cmp"
	"maps"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Preview is what a plan means, for whoever is to commit it.
type Preview struct {
	// Slots is how many slots change, Homes how many of them get another home.
	Slots, Homes int
	// Transfers says how much goes from where to where, the most first.
	Transfers []Transfer
	// Copies is how many slots are copied to somebody, Bytes how much that is.
	Copies int
	Bytes  int64
	// Seconds is how long that takes at the rate, 0 where it is not known.
	Seconds int64
	// Shares are those of all that are members before or after, by name.
	Shares []Share
	// Before and After say what the ring survives.
	Before, After Survival
}

// Transfer is what one member copies from another.
type Transfer struct {
	From, To uint16
	Slots    int
	Bytes    int64
}

// Share is how much of the ring a member has: slots that it holds, and of how many of
// them it is the home.
type Share struct {
	ID                       uint16
	Name                     string
	Before, After            int
	HomesBefore, HomesAfter  int
	BytesBefore, BytesAfter  int64
	BytesReceived, BytesSent int64
}

// Survival is what may fail with every slot still having a majority.
type Survival struct {
	// Members is how many members may fail at a time, whichever they are.
	Members int
	// Racks is how many racks may.
	Racks int
}

// NewPreview says what moves mean: those of a Commit, or those that are Left of the plan.
// size is the bytes of a slot, rate the bytes a second that each member copies,
// 0 if it is not known.
func NewPreview(d Document, moves []Move, size func(slot uint16) int64, rate int64) Preview {
	var p Preview
	lives, _ := d.staged()
	shares := make(map[uint16]*Share, len(lives))
	racks := make(map[uint16]string, len(lives))
	for _, l := range lives {
		shares[l.ID] = &Share{ID: l.ID, Name: l.Name}
		racks[l.ID] = l.Rack
	}
	after := d.after(moves)
	for slot := range uint16(ring.Slots) {
		bytes := size(slot)
		for i, id := range d.Slots[slot].Replicas {
			s := shares[id]
			s.Before, s.BytesBefore, s.HomesBefore = s.Before+1, s.BytesBefore+bytes, s.HomesBefore+home(i)
		}
		for i, id := range after[slot].Replicas {
			s := shares[id]
			s.After, s.BytesAfter, s.HomesAfter = s.After+1, s.BytesAfter+bytes, s.HomesAfter+home(i)
		}
	}
	p.transfers(d, moves, size, shares)
	p.Seconds = seconds(shares, rate)
	for _, id := range slices.Sorted(maps.Keys(shares)) {
		s := shares[id]
		if s.Before+s.After > 0 || s.BytesReceived > 0 {
			p.Shares = append(p.Shares, *s)
		}
	}
	slices.SortStableFunc(p.Shares, func(a, b Share) int { return cmp.Compare(a.Name, b.Name) })
	p.Before, p.After = survival(d.Slots, racks), survival(after, racks)
	return p
}

// Seconds is how long moves take at a rate, as NewPreview says, and nothing else of it: for who asks again and again.
func Seconds(d Document, moves []Move, size func(slot uint16) int64, rate int64) int64 {
	shares := make(map[uint16]*Share, len(d.Members))
	for _, l := range d.Members {
		shares[l.ID] = new(Share)
	}
	new(Preview).transfers(d, moves, size, shares)
	return seconds(shares, rate)
}

func seconds(shares map[uint16]*Share, rate int64) (most int64) {
	for _, s := range shares {
		if rate > 0 {
			most = max(most, (max(s.BytesReceived, s.BytesSent)+rate-1)/rate)
		}
	}
	return most
}

func home(place int) int {
	if place == 0 {
		return 1
	}
	return 0
}

func (p *Preview) transfers(d Document, moves []Move, size func(slot uint16) int64, shares map[uint16]*Share) {
	between := make(map[Copy]*Transfer)
	sources := SourcesOf(func(id uint16) bool { return d.isAlive(id, Alive) })
	for _, m := range moves {
		from := d.Slots[m.Slot].Replicas
		if slices.Equal(from, m.To) {
			continue
		}
		p.Slots++
		if from[0] != m.To[0] {
			p.Homes++
		}
		for _, c := range sources(from, m.To) {
			bytes := size(m.Slot)
			t := between[c]
			if t == nil {
				t = &Transfer{From: c.From, To: c.To}
				between[c] = t
			}
			t.Slots, t.Bytes = t.Slots+1, t.Bytes+bytes
			p.Copies, p.Bytes = p.Copies+1, p.Bytes+bytes
			shares[c.From].BytesSent += bytes
			shares[c.To].BytesReceived += bytes
		}
	}
	for _, t := range between {
		p.Transfers = append(p.Transfers, *t)
	}
	slices.SortFunc(p.Transfers, func(a, b Transfer) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Slots, a.Slots), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
}

// survival looks at every slot: how many members, and how many racks at the worst, it
// can do without.
func survival(slots []ring.Assignment, racks map[uint16]string) Survival {
	s := Survival{ring.MaxReplicas, ring.MaxReplicas}
	for _, a := range slots {
		spare := len(a.Replicas) - majority(a.Replicas)
		s.Members = min(s.Members, spare)
		count := make(map[string]int, len(a.Replicas))
		for _, id := range a.Replicas {
			count[racks[id]]++
		}
		n := 0
		for _, inRack := range slices.Backward(slices.Sorted(maps.Values(count))) {
			if spare -= inRack; spare < 0 {
				break
			}
			n++
		}
		s.Racks = min(s.Racks, n)
	}
	return s
}
