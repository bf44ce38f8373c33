package change

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
)

func TestWavesAreBounded(t *testing.T) {
	needsAllSlots(t)
	d := do(t, first(t, 8, 3), join(9), join(10), stage(Staged{Kind: JoinMember, Name: "n9"}), stage(Staged{Kind: JoinMember, Name: "n10"}))
	d = commit(t, d)
	for _, l := range []Limits{{Joint: 7}, {PerTarget: 3}, {PerSource: 2}, {Joint: 20, PerSource: 4, PerTarget: 9}} {
		l.Alive = Alive
		d := d
		for range 4 {
			d = do(t, d, begin(d, NextWave(d, l)...))
			require.Empty(t, NextWave(d, l), "the limits are used")
			gives, takes := map[uint16]int{}, map[uint16]int{}
			for _, p := range d.Joint {
				for _, c := range Sources(d.Slots[p.Slot].Replicas, d.Slots[p.Slot].Next, Alive) {
					gives[c.From]++
					takes[c.To]++
				}
			}
			if l.Joint > 0 {
				require.LessOrEqual(t, len(d.Joint), l.Joint)
			}
			for _, n := range gives {
				require.True(t, l.PerSource == 0 || n <= l.PerSource)
			}
			for _, n := range takes {
				require.True(t, l.PerTarget == 0 || n <= l.PerTarget)
			}
			d = complete(t, d, d.Joint[0].Slot)
		}
	}
}

// A slot that can't go on holds up nothing but itself.
func TestAStuckWaveHoldsUpOnlyItself(t *testing.T) {
	needsAllSlots(t)
	d := do(t, first(t, 8, 3), join(9), join(10), stage(Staged{Kind: JoinMember, Name: "n9"}), stage(Staged{Kind: JoinMember, Name: "n10"}))
	d = commit(t, d)
	wave := NextWave(d, Limits{Joint: 30, Alive: Alive})
	d = do(t, d, begin(d, wave...))
	without9 := func(id uint16) bool { return id != 9 }
	stuck := 0
	for _, slot := range wave {
		for _, id := range d.Slots[slot].Next {
			if id == 9 {
				stuck++
			}
		}
	}
	require.NotZero(t, stuck)
	next := NextWave(d, Limits{Joint: 30, Alive: without9})
	require.Len(t, next, stuck, "others take the place of those that are stuck")
	for _, slot := range next {
		require.NotContains(t, d.Goal(slot), uint16(9))
	}
}

func TestReadiness(t *testing.T) {
	d := first(t, 7, 3)
	for name, c := range map[string]struct {
		from, to []uint16
		dead     []uint16
		want     readiness
	}{
		"all live":                              {[]uint16{1, 2, 3}, []uint16{4, 2, 3}, nil, ready},
		"who leaves is dead":                    {[]uint16{1, 2, 3}, []uint16{4, 2, 3}, []uint16{1}, ready},
		"who stays is dead":                     {[]uint16{1, 2, 3}, []uint16{4, 2, 3}, []uint16{3}, possible},
		"who joins is dead":                     {[]uint16{1, 2, 3}, []uint16{4, 2, 3}, []uint16{4}, stuck},
		"a majority of the old is dead":         {[]uint16{1, 2, 3}, []uint16{4, 5, 3}, []uint16{1, 2}, stuck},
		"it shrinks, and who stays is dead":     {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 3}, []uint16{1}, possible},
		"it shrinks, and two who stay are dead": {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 3}, []uint16{1, 2}, stuck},
		"of seven, and who stays is dead":       {[]uint16{1, 2, 3, 4, 5, 6, 7}, []uint16{1, 2, 3}, []uint16{1}, possible},
		"it shrinks, and who leaves is dead":    {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 3}, []uint16{5}, ready},
		"it grows, and who stays is dead":       {[]uint16{1, 2, 3}, []uint16{1, 2, 3, 4, 5}, []uint16{1}, possible},
		"it loses one of four, who is dead":     {[]uint16{1, 2, 3, 4}, []uint16{1, 2, 3}, []uint16{4}, ready},
		"another home, and the old one is dead": {[]uint16{1, 2, 3}, []uint16{2, 1, 3}, []uint16{1}, possible},
	} {
		alive := func(id uint16) bool {
			for _, dead := range c.dead {
				if id == dead {
					return false
				}
			}
			return true
		}
		w := &wave{d: d, limits: Limits{Alive: alive}}
		require.Equal(t, c.want, w.readiness(c.from, c.to), name)
	}
}

func TestPreview(t *testing.T) {
	d := do(t, first(t, 4, 3), join(5), stage(Staged{Kind: JoinMember, Name: "n5"}))
	c, err := Propose(d)
	require.NoError(t, err)
	moves, err := c.Decode()
	require.NoError(t, err)
	p := NewPreview(d, moves, func(uint16) int64 { return 10 }, 100)
	require.Equal(t, len(moves), p.Slots)
	require.EqualValues(t, 10*p.Copies, p.Bytes)
	slots, sent := 0, int64(0)
	for _, tr := range p.Transfers {
		require.EqualValues(t, 5, tr.To)
		slots += tr.Slots
	}
	require.Equal(t, p.Copies, slots)
	require.Len(t, p.Shares, 5)
	for _, s := range p.Shares[:4] {
		require.Less(t, s.After, s.Before)
		sent += s.BytesSent
	}
	require.Equal(t, p.Bytes, sent)
	n5 := p.Shares[4]
	require.Zero(t, n5.Before)
	require.Equal(t, p.Copies, n5.After)
	require.Equal(t, (n5.BytesReceived+99)/100, p.Seconds)
	require.Equal(t, p.Seconds, Seconds(d, moves, func(uint16) int64 { return 10 }, 100))
	require.Zero(t, Seconds(d, moves, func(uint16) int64 { return 10 }, 0))
	require.Equal(t, Survival{Members: 1, Racks: 0}, p.Before)
	d = carryOut(t, do(t, d, Entry{Commit: c}))
	require.Equal(t, n5.After, holds(d, "n5"))
}

// What is left of a plan that is turned back leads back, and nothing comes from a life
// that is lost.
func TestPreviewOfWhatIsLeft(t *testing.T) {
	d := commit(t, do(t, first(t, 4, 3), join(5), stage(Staged{Kind: JoinMember, Name: "n5"})))
	wave := NextWave(d, Limits{Joint: 100, Alive: Alive})
	moving := len(d.Left())
	d = complete(t, do(t, d, begin(d, wave...)), wave[:60]...)
	require.Len(t, d.Left(), moving-60)
	d = do(t, d, Entry{Abort: &Abort{Plan: d.Plan.ID}})
	require.Len(t, d.Left(), 60)
	require.Empty(t, carryOut(t, d).Left())
	d = do(t, d, rejoin(d, "n5", 55), rejoin(d, "n1", 11))
	lost, _ := d.Member(1)
	require.Equal(t, Lost, lost.State)
	p := NewPreview(d, d.Left(), func(uint16) int64 { return 10 }, 100)
	require.Len(t, d.Left(), p.Slots)
	n1, _ := d.ByName("n1")
	back := 0
	for _, tr := range p.Transfers {
		require.NotContains(t, []uint16{1, 5}, tr.From, "it is lost")
		require.NotEqual(t, uint16(6), tr.To, "it is to hold nothing")
		if tr.To == n1.ID {
			back += tr.Slots
		}
	}
	i := slices.IndexFunc(p.Shares, func(s Share) bool { return s.ID == n1.ID })
	require.Equal(t, p.Shares[i].After, back)
}

// Who collects is what R16 and R18 say.
func TestCollectors(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want []uint16 }{
		"one is replaced":            {[]uint16{1, 2, 3}, []uint16{4, 2, 3}, []uint16{4}},
		"all are":                    {[]uint16{1, 2, 3}, []uint16{4, 5, 6}, []uint16{4, 5, 6}},
		"it grows":                   {[]uint16{1, 2, 3}, []uint16{1, 2, 3, 4, 5}, []uint16{4, 5}},
		"it shrinks":                 {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 3}, []uint16{1, 2, 3}},
		"it shrinks, and one is new": {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 6}, []uint16{6, 1, 2}},
		"one less of four":           {[]uint16{1, 2, 3, 4}, []uint16{1, 2, 3}, nil},
		"another home":               {[]uint16{1, 2, 3}, []uint16{2, 1, 3}, nil},
		"the only one is replaced":   {[]uint16{1}, []uint16{2}, []uint16{2}},
		"one of two is left":         {[]uint16{1, 2}, []uint16{1}, nil},
	} {
		require.Equal(t, c.want, Collectors(c.from, c.to), name)
	}
}

// A slot is its new members' when all that join have reported, and of those that stay
// enough (R18.6).
func TestOneThatStaysNeedNotReport(t *testing.T) {
	d := commit(t, do(t, first(t, 6, 5), stage(Staged{Kind: SetReplicas, Number: 3})))
	without1 := Limits{Alive: func(id uint16) bool { return id != 1 }}
	d = do(t, d, begin(d, NextWave(d, without1)...))
	require.Len(t, d.Joint, ring.Slots)
	var slots []SlotEpoch
	for _, p := range d.Joint {
		slots = append(slots, SlotEpoch{p.Slot, d.Slots[p.Slot].Epoch})
	}
	for id := range uint16(6) {
		if id > 0 {
			d = do(t, d, Entry{Complete: &Complete{id + 1, slots}})
		}
		for _, p := range d.Joint {
			require.Less(t, len(p.Done), 2, "two of three have reported")
		}
	}
	require.Nil(t, d.Plan)
}

// Who has collected a slot decides whether it has moved.
func TestCollected(t *testing.T) {
	for name, c := range map[string]struct {
		from, to, done []uint16
		want           bool
	}{
		"nobody has":                              {[]uint16{1, 2, 3}, []uint16{4, 2, 3}, nil, false},
		"who joins has":                           {[]uint16{1, 2, 3}, []uint16{4, 2, 3}, []uint16{4}, true},
		"one that joins has not":                  {[]uint16{1, 2, 3}, []uint16{4, 5, 3}, []uint16{5}, false},
		"two that stay have, who joins has not":   {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 6}, []uint16{1, 2}, false},
		"who joins has, and nobody that stays":    {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 6}, []uint16{6}, false},
		"who joins has, and one that stays":       {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 6}, []uint16{6, 2}, true},
		"it shrinks, and one has":                 {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 3}, []uint16{3}, false},
		"it shrinks, and two have":                {[]uint16{1, 2, 3, 4, 5}, []uint16{1, 2, 3}, []uint16{1, 3}, true},
		"to one of three, which has":              {[]uint16{1, 2, 3}, []uint16{1}, []uint16{1}, true},
		"nobody joins, and the new members carry": {[]uint16{1, 2, 3, 4}, []uint16{1, 2, 3}, nil, true},
	} {
		require.Equal(t, c.want, collected(c.from, c.to, c.done), name)
	}
}
