package sim

import (
	"slices"

	"github.com/quolldb/quoll/node/register"
)

// slots is the number of slots; all have the same members, in different orders.
const slots = 2

// epoch is one version of the ring, as an imagined control plane decides it.
type epoch struct {
	number        uint64
	members, next []uint16 // next is nil unless the epoch is joint (R16)
	configs       [slots]*register.Config
}

func newEpoch(number uint64, members, next []uint16) epoch {
	e := epoch{number: number, members: members, next: next}
	for slot := range e.configs {
		order := slices.Concat(members[slot%len(members):], members[:slot%len(members)])
		e.configs[slot] = register.NewConfig(number, order, next)
	}
	return e
}

func (e epoch) joint() bool { return e.next != nil }

// all returns the members, old and new.
func (e epoch) all() []uint16 { return e.configs[0].Members() }

// spare returns how many members may fail.
func (e epoch) spare() int {
	if e.joint() {
		return 0
	}
	return (len(e.members) - 1) / 2
}

func (s *Sim) latest() epoch { return s.epochs[len(s.epochs)-1] }

func (s *Sim) publish(members, next []uint16) epoch {
	e := newEpoch(uint64(len(s.epochs)+1), members, next)
	s.epochs = append(s.epochs, e)
	s.count("epoch", 1)
	s.trace("epoch %d: members %v, next %v", e.number, members, next)
	for _, id := range e.all() { // what they hold may be that of other quorums now
		s.watch(s.nodes[id])
	}
	for _, n := range s.nodes[1:] { // every process learns it in its own time, or not at all
		if !s.chance(3) {
			s.after(s.delay(), func() { n.learn(e.number) })
		}
	}
	return e
}

// reorderMembers publishes an epoch with other preferred homes.
func (s *Sim) reorderMembers() {
	if s.change != nil {
		return
	}
	s.publish(s.shuffled(s.latest().members), nil)
}

func (s *Sim) shuffled(members []uint16) []uint16 {
	members = slices.Clone(members)
	s.rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

// changeMembers replaces members by new nodes, now and then by more or fewer than leave: a joint epoch,
// the transfer, the final epoch (R16 to R18). Those that lost their disk go first.
func (s *Sim) changeMembers(replace int) {
	if s.change != nil || s.healed {
		return
	}
	members := s.shuffled(s.latest().members)
	slices.SortStableFunc(members, func(a, b uint16) int { return s.lostFirst(a) - s.lostFirst(b) })
	leave, join := replace, replace
	if s.chance(3) { // to another size, of 3 to 5 members
		if !s.nodes[members[0]].lost {
			leave = s.rand.IntN(3)
		}
		join = 3 + s.rand.IntN(3) - (len(members) - leave)
		leave, join = leave-min(join, 0), max(join, 0)
	}
	s.beginChange(members[leave:], join).step()
}

func (s *Sim) lostFirst(id uint16) int {
	if s.nodes[id].lost {
		return 0
	}
	return 1
}

// beginChange publishes a joint epoch, from the members of now to those that stay and some new ones.
func (s *Sim) beginChange(staying []uint16, join int) *transfer {
	number := uint64(len(s.epochs) + 1)
	old := s.latest().members
	joining := make([]uint16, join)
	for i := range joining {
		n := s.addNode()
		n.join(number)
		joining[i] = n.id
	}
	next := slices.Concat(joining, staying)
	s.count("joint-epoch", 1)
	switch {
	case len(next) > len(old):
		s.count("grown", 1)
	case len(next) < len(old):
		s.count("shrunk", 1)
	}
	s.publish(old, next)
	s.change = &transfer{sim: s, epoch: number, old: old, next: next, joining: joining, shown: map[uint16]*snapshot{}, filled: map[uint16]bool{}}
	return s.change
}

// endChange publishes the epoch that follows a joint one.
func (s *Sim) endChange(members []uint16, counted string) {
	s.change = nil
	s.count(counted, 1)
	s.publish(members, nil)
}

// dropChange gives a change of members up: the old ones remain. One that has lost its disk must go.
func (s *Sim) dropChange() {
	t := s.change
	if t == nil || s.healed || slices.ContainsFunc(t.old, func(id uint16) bool { return s.nodes[id].lost }) {
		return
	}
	s.endChange(t.old, "change-dropped")
}

// adoptAll raises the epoch of every slot; false means that the node is further already.
func (n *node) adoptAll(epoch uint64) bool {
	for slot := range n.acceptors {
		if !n.adopt(uint16(slot), epoch) {
			return false
		}
	}
	return true
}
