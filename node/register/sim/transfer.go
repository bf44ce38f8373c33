package sim

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/quorum"
)

// transfer is what the control plane knows of a joint epoch: who collects what the old members hold (R18), and who has reported that
// it has.
type transfer struct {
	sim        *Sim
	epoch      *epoch // the joint one
	collectors []uint16
	done       map[uint16]bool
	begun      int
}

// stuck is how long a change may take until the control plane gives it up.
const stuck = 2500

// beginChange publishes a joint epoch, from the members of now to others. It is nil if no transfer is needed, nor a joint epoch: then any quorum of the old
// members has a member in any one of the new, and what is agreed among one is so among the other (R16).
func (s *Sim) beginChange(slot uint16, next []uint16) *transfer {
	old := s.latest(slot).members
	switch {
	case len(next) > len(old):
		s.count("grown", 1)
	case len(next) < len(old):
		s.count("shrunk", 1)
	}
	who := collectors(old, next)
	if len(who) == 0 {
		s.changes[slot] = nil
		s.publish(slot, next, nil)
		return nil
	}
	s.count("joint-epoch", 1)
	s.changes[slot] = &transfer{sim: s, epoch: s.publish(slot, old, next), collectors: who, done: map[uint16]bool{}, begun: s.now}
	return s.changes[slot]
}

// collectors returns which of the new members collect: those that join and, unless these are enough, those that stay, too.
func collectors(old, next []uint16) (who []uint16) {
	for _, id := range next {
		if !slices.Contains(old, id) {
			who = append(who, id)
		}
	}
	if suffices(old, next, func(id uint16) bool { return slices.Contains(who, id) }) {
		return who
	}
	return next
}

// suffices reports whether the new members that have collected, and those of any majority of the old ones that are new ones, too, are a majority of the new ones: then this
// holds what is agreed, in any case.
func suffices(old, next []uint16, collected func(uint16) bool) bool {
	have, others := 0, 0
	for _, id := range next {
		switch {
		case collected(id):
			have++
		case slices.Contains(old, id):
			others++
		}
	}
	return have+max(0, quorum.Majority(len(old))-(len(old)-others)) >= quorum.Majority(len(next))
}

// step has those collect that have not reported, until enough have.
func (c *transfer) step() {
	s := c.sim
	switch {
	case s.changes[c.epoch.slot] != c:
		return
	case c.complete():
		s.endChange(c.epoch.slot, c.epoch.next, "members-changed")
		return
	case c.hopeless():
		s.endChange(c.epoch.slot, c.epoch.members, "change-stuck")
		return
	}
	for _, id := range c.collectors {
		if !c.done[id] {
			s.carry(0, id, func() { s.nodes[id].collect(c) })
		}
	}
	s.after(12, c.step)
}

// complete reports whether all that join have collected, and enough of those that stay.
func (c *transfer) complete() bool { return c.ends(func(id uint16) bool { return c.done[id] }) }

func (c *transfer) ends(collected func(uint16) bool) bool {
	joining := func(id uint16) bool { return c.epoch.joins(id) && !collected(id) }
	return !slices.ContainsFunc(c.collectors, joining) && suffices(c.epoch.members, c.epoch.next, collected)
}

// hopeless reports whether too many will never report, as far as the control plane can tell.
func (c *transfer) hopeless() bool {
	s := c.sim
	if !c.ends(func(id uint16) bool { return c.done[id] || !s.nodes[id].lost && !s.nodes[id].ill }) {
		return true
	}
	slow := s.now-c.begun > stuck
	if s.healed && s.now-max(c.begun, horizon) > stuck {
		s.overdue = append(s.overdue, fmt.Sprintf("slot %d: epoch %d, begun at %d, has not come to an end at %d", c.epoch.slot, c.epoch.number, c.begun, s.now))
	}
	return slow && !s.healed
}

// endChange publishes the epoch that follows a joint one: the new members, or the old ones again.
func (s *Sim) endChange(slot uint16, members []uint16, counted string) {
	s.changes[slot] = nil
	s.count(counted, 1)
	s.publish(slot, members, nil)
}

// dropChange gives some change up: the old members remain, or are changed to others at once.
func (s *Sim) dropChange() {
	slot := s.anySlot()
	c := s.changes[slot]
	if c == nil || s.healed {
		return
	}
	if s.chance(2) { // from one joint epoch to another
		s.count("change-retargeted", 1)
		s.startChange(slot, 1+s.rand.IntN(2))
		return
	}
	s.endChange(slot, c.epoch.members, "change-dropped")
	if s.chance(2) {
		s.startChange(slot, 1+s.rand.IntN(3))
	}
}

// changeMembers replaces members of some slots by others, now and then by more or fewer than leave.
func (s *Sim) changeMembers(replace int) {
	if s.healed {
		return
	}
	first, both := s.anySlot(), s.chance(2)
	for slot := range uint16(slots) {
		if s.changes[slot] == nil && (slot == first || both) {
			s.startChange(slot, replace)
		}
	}
}

// startChange replaces so many members of a slot, or changes their number, whatever is going on there. Those that lost their disk
// go first.
func (s *Sim) startChange(slot uint16, replace int) {
	members := s.shuffled(s.latest(slot).members)
	slices.SortStableFunc(members, func(a, b uint16) int { return s.lostFirst(a) - s.lostFirst(b) })
	leave := min(replace, len(members))
	join := leave
	lost := 1 - s.lostFirst(members[0])
	if s.chance(3) && !(s.healed && lost > 0) { // to another size
		size := s.weather.smallest() + s.rand.IntN(6-s.weather.smallest())
		leave = min(max(lost, s.rand.IntN(3)), len(members))
		join = size - (len(members) - leave)
		leave, join = leave-min(join, 0), max(join, 0)
	}
	next := members[leave:]
	for range join {
		next = slices.Concat([]uint16{s.newcomer(slot, next)}, next)
	}
	if c := s.beginChange(slot, next); c != nil {
		c.step()
	}
}

func (s *Sim) lostFirst(id uint16) int {
	if s.nodes[id].lost || s.nodes[id].ill {
		return 0
	}
	return 1
}

// newcomer returns a node for a slot: a new one, one that has left it or serves another slot, or one that has the number of one that is gone.
func (s *Sim) newcomer(slot uint16, next []uint16) uint16 {
	first := 1 + s.rand.IntN(len(s.nodes)-1)
	for i := range len(s.nodes) - 1 {
		n := s.nodes[1+(first+i)%(len(s.nodes)-1)]
		switch {
		case slices.Contains(s.latest(slot).members, n.id) || slices.Contains(next, n.id):
		case !s.healed && s.nowhere(n.id) && s.chance(3): // its process has ended, if it is still there
			s.count("number-reused", 1)
			n.stop()
			n.lost, n.gone = true, true
			return s.addNode(n.id).id
		case !n.lost && !n.ill && n.up && !n.damaged[slot] && s.chance(2):
			s.count("rejoined", 1)
			return n.id
		}
	}
	return s.addNode(uint16(len(s.nodes))).id
}

// nowhere reports whether a number is that of no member of any slot.
func (s *Sim) nowhere(id uint16) bool {
	for slot := range uint16(slots) {
		if slices.Contains(s.latest(slot).all(), id) {
			return false
		}
	}
	return true
}

// enter prepares the replica for an epoch. One that comes to the slot is empty, whatever it held before as a member of the slot, or
// of a change that was given up (R17). It reports false if that cannot be had now.
func (n *node) enter(e *epoch) bool {
	a := n.acceptors[e.slot]
	if !e.joins(n.id) || a.Epoch() >= e.number || n.lost {
		return true
	}
	if n.damaged[e.slot] {
		return false
	}
	var w register.Write
	a.Enter(e.number, true, &w)
	return a.Persisted(&w, w.To(n.store)) == nil
}
