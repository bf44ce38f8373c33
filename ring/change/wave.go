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
	w := &wave{d: d, limits: l, gives: make(map[uint16]int), takes: make(map[uint16]int), ways: make(map[between]*way)}
	for _, p := range d.Joint {
		if a := d.Slots[p.Slot]; w.way(a.Replicas, a.Next).readiness != stuck {
			w.count(w.way(a.Replicas, a.Next))
		}
	}
	for _, want := range []readiness{ready, possible} {
		for _, m := range d.Plan.Moves {
			if l.Joint > 0 && w.joint >= l.Joint {
				break
			}
			a, to := d.Slots[m.Slot], d.Plan.goal(m)
			if a.Next != nil || slices.Equal(a.Replicas, to) {
				continue
			}
			if way := w.way(a.Replicas, to); way.readiness == want && w.hasRoom(way) {
				w.slots = append(w.slots, m.Slot)
				w.count(way)
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
	ways         map[between]*way
}

// between is from whom to whom slots move: lists of members that end in zeros.
type between [2 * ring.MaxReplicas]uint16

func betweenOf(from, to []uint16) (b between) {
	copy(b[:ring.MaxReplicas], from)
	copy(b[ring.MaxReplicas:], to)
	return b
}

// way is what slots have in common that move so: thousands of slots of a plan do.
type way struct {
	readiness
	collectors []uint16
	copies     []Copy
}

// way returns what is known of slots that move from some members to others.
func (w *wave) way(from, to []uint16) *way {
	b := betweenOf(from, to)
	known := w.ways[b]
	if known == nil {
		known = &way{w.readiness(from, to), Collectors(from, to), Sources(from, to, w.alive)}
		w.ways[b] = known
	}
	return known
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

func (w *wave) hasRoom(way *way) bool {
	for _, id := range way.collectors {
		if full(w.takes[id], w.limits.PerTarget) {
			return false
		}
	}
	return !slices.ContainsFunc(way.copies, func(c Copy) bool { return full(w.gives[c.From], w.limits.PerSource) })
}

func full(n, limit int) bool { return limit > 0 && n >= limit }

func (w *wave) count(way *way) {
	w.joint++
	for _, id := range way.collectors {
		w.takes[id]++
	}
	for _, c := range way.copies {
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

// SourcesOf returns Sources for slots of which many move alike, as those of a plan do: it remembers.
func SourcesOf(alive func(id uint16) bool) func(from, to []uint16) []Copy {
	known := make(map[between][]Copy)
	return func(from, to []uint16) []Copy {
		b := betweenOf(from, to)
		copies, found := known[b]
		if !found {
			copies = Sources(from, to, alive)
			known[b] = copies
		}
		return copies
	}
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
