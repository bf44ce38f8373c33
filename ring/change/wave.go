package change

import (
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Limits bounds a wave. Zero means no limit, but for Alive, which must be there.
type Limits struct {
	// Joint is how many slots are joint at a time, PerSource for how many of them one
	// member gives values, and PerTarget how many one member collects. A joint slot that
	// can't go on, because members are down, does not count: it holds up nothing but
	// itself.
	Joint, PerSource, PerTarget int
	// Alive says who is alive. A lost life is not, whatever it says.
	Alive func(id uint16) bool
}

// NextWave returns the slots that should begin to move now, in order: those that can
// move, as many as the limits allow. First come slots of which all members are alive
// but those that leave; then those of which enough are (R18). It is empty if the ring
// is paused, no plan is under way, or nothing can begin.
func NextWave(d Document, l Limits) []uint16 {
	if d.Plan == nil || d.Paused {
		return nil
	}
	w := &wave{d: d, limits: l, gives: make(map[uint16]int), takes: make(map[uint16]int)}
	for _, p := range d.Joint {
		if a := d.Slots[p.Slot]; w.readiness(a.Replicas, a.Next) != stuck {
			w.count(a.Replicas, a.Next)
		}
	}
	for _, want := range []readiness{ready, possible} {
		for _, m := range d.Plan.Moves {
			if l.Joint > 0 && w.joint >= l.Joint {
				break
			}
			from, to := d.Slots[m.Slot].Replicas, d.Plan.goal(m)
			if d.canBegin(m.Slot) && w.readiness(from, to) == want && w.hasRoom(from, to) {
				w.slots = append(w.slots, m.Slot)
				w.count(from, to)
			}
		}
	}
	slices.Sort(w.slots)
	return w.slots
}

type wave struct {
	d            Document
	limits       Limits
	joint        int
	gives, takes map[uint16]int
	slots        []uint16
}

// readiness is whether a slot can move.
type readiness int

const (
	stuck    readiness = iota // too few members are alive
	possible                  // some are not, but enough are
	ready                     // all are that matter
)

func (w *wave) alive(id uint16) bool { return w.d.isAlive(id, w.limits.Alive) }

func (d Document) isAlive(id uint16, alive func(uint16) bool) bool {
	l, _ := d.Member(id)
	return l.State != Lost && alive(id)
}

func (w *wave) readiness(from, to []uint16) readiness {
	collectors := slices.DeleteFunc(Collectors(from, to), func(id uint16) bool { return !w.alive(id) })
	old, next := w.living(from), w.living(to)
	switch {
	case !collected(from, to, collectors), old < majority(from), next < majority(to):
		return stuck
	case next == len(to):
		return ready
	}
	return possible
}

func (w *wave) living(ids []uint16) int {
	n := 0
	for _, id := range ids {
		if w.alive(id) {
			n++
		}
	}
	return n
}

func (w *wave) hasRoom(from, to []uint16) bool {
	return !slices.ContainsFunc(Collectors(from, to), func(id uint16) bool { return full(w.takes[id], w.limits.PerTarget) }) &&
		!slices.ContainsFunc(Sources(from, to, w.alive), func(c Copy) bool { return full(w.gives[c.From], w.limits.PerSource) })
}

func full(n, limit int) bool { return limit > 0 && n >= limit }

func (w *wave) count(from, to []uint16) {
	w.joint++
	for _, id := range Collectors(from, to) {
		w.takes[id]++
	}
	for _, c := range Sources(from, to, w.alive) {
		w.gives[c.From]++
	}
}

// Copy is one copy of a slot: who gives the values, and who collects.
type Copy struct{ From, To uint16 }

// Sources says for each member that joins a slot from which old member it should take
// values: the one whose place it takes, or the next in turn where it takes
// nobody's; one that is alive, if there is one.
func Sources(from, to []uint16, alive func(id uint16) bool) []Copy {
	var leave []uint16
	for _, id := range from {
		if !slices.Contains(to, id) {
			leave = append(leave, id)
		}
	}
	order := slices.Clone(leave)
	for _, id := range from {
		if !slices.Contains(leave, id) {
			order = append(order, id)
		}
	}
	if living := slices.DeleteFunc(slices.Clone(order), func(id uint16) bool { return !alive(id) }); len(living) > 0 {
		order = living
	}
	var copies []Copy
	for _, id := range to {
		if !slices.Contains(from, id) {
			copies = append(copies, Copy{order[len(copies)%len(order)], id})
		}
	}
	return copies
}

// Alive is a liveness in which everybody is.
func Alive(uint16) bool { return true }

// after returns the assignments that a plan's moves lead to.
func (d Document) after(moves []Move) []ring.Assignment {
	slots := slices.Clone(d.Slots)
	for _, m := range moves {
		slots[m.Slot].Replicas = m.To
	}
	return slots
}
