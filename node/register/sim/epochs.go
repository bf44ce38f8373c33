package sim

import (
	"slices"

	"github.com/quolldb/quoll/node/register"
)

// slots is the number of slots. They begin with the same members, in different orders; then each goes its own way.
const slots = 2

// epoch is what the ring says of one slot, from one version of the ring on, as an imagined control plane decides it.
type epoch struct {
	slot          uint16
	number        uint64   // the version of the ring that brought it: a slot's epochs have gaps
	members, next []uint16 // next is nil unless the epoch is joint (R16)
	config        *register.Config
}

func (e *epoch) joint() bool { return e.next != nil }

// all returns the members, old and new.
func (e *epoch) all() []uint16 { return e.config.Members() }

// joins reports whether a member comes to the slot with this epoch.
func (e *epoch) joins(id uint16) bool {
	return slices.Contains(e.next, id) && !slices.Contains(e.members, id)
}

// latest returns the newest epoch of a slot.
func (s *Sim) latest(slot uint16) *epoch { return s.epochs[slot][len(s.epochs[slot])-1] }

// epochOf returns an epoch of a slot.
func (s *Sim) epochOf(slot uint16, number uint64) *epoch {
	i := slices.IndexFunc(s.epochs[slot], func(e *epoch) bool { return e.number == number })
	return s.epochs[slot][i]
}

// before returns the epoch of the slot before one.
func (s *Sim) before(e *epoch) *epoch {
	return s.epochs[e.slot][slices.Index(s.epochs[e.slot], e)-1]
}

// found forms the ring.
func (s *Sim) found(members []uint16) {
	s.version = 1
	for slot := range s.epochs {
		order := slices.Concat(members[slot%len(members):], members[:slot%len(members)])
		s.epochs[slot] = []*epoch{{slot: uint16(slot), number: 1, members: order, config: register.NewConfig(1, order, nil)}}
	}
}

// publish gives a slot its next epoch.
func (s *Sim) publish(slot uint16, members, next []uint16) *epoch {
	s.version++
	e := &epoch{slot: slot, number: s.version, members: members, next: next, config: register.NewConfig(s.version, members, next)}
	s.epochs[slot] = append(s.epochs[slot], e)
	s.count("epoch", 1)
	s.trace("epoch %d of slot %d: members %v, next %v", e.number, slot, members, next)
	for _, id := range e.all() { // what they hold may be that of other quorums now
		s.watch(s.nodes[id])
	}
	for _, n := range s.nodes[1:] { // every process learns it in its own time, or not at all
		if s.healed || !s.chance(3) {
			s.after(s.delay(), func() { n.learn(slot, e.number) })
		}
	}
	return e
}

// reorderMembers gives a slot other preferred homes.
func (s *Sim) reorderMembers() {
	if slot := s.anySlot(); s.changes[slot] == nil {
		s.publish(slot, s.shuffled(s.latest(slot).members), nil)
	}
}

func (s *Sim) anySlot() uint16 { return uint16(s.rand.IntN(slots)) }

func (s *Sim) shuffled(members []uint16) []uint16 {
	members = slices.Clone(members)
	s.rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

// learn is told of an epoch of a slot.
func (n *node) learn(slot uint16, number uint64) {
	if n.up && number > n.epochs[slot].number {
		n.do(func() { n.meet(slot, number) })
	}
}

// meet is learn in the course of a step: nobody acts in an epoch before he knows its members. It reports false if the node cannot
// enter it now.
func (n *node) meet(slot uint16, number uint64) bool {
	if number <= n.epochs[slot].number {
		return true
	}
	e := n.sim.epochOf(slot, number)
	if !n.enter(e) {
		return false
	}
	n.epochs[slot] = e
	n.step(slot, register.Input{Happening: register.Learned, Config: e.config})
	return true
}
