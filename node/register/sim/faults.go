package sim

import "github.com/quolldb/quoll/node/register"

import (
	"fmt"
	"slices"
)

// anyMember picks a node of the newest ring.
func (s *Sim) anyMember() *node {
	all := s.latest(s.anySlot()).all()
	return s.nodes[all[s.rand.IntN(len(all))]]
}

// members returns the nodes of the newest ring, in the order of their numbers.
func (s *Sim) members() []uint16 {
	var all []uint16
	for slot := range uint16(slots) {
		all = append(all, s.latest(slot).all()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spares reports whether each slot keeps a majority of its members, in a joint epoch of both, if so many of the bad are one more.
func (s *Sim) spares(id uint16, most func(members int) int, bad func(*node) bool) bool {
	for slot := range uint16(slots) {
		e := s.latest(slot)
		for _, members := range [][]uint16{e.members, e.next} {
			count := 1
			for _, other := range members {
				if bad(s.nodes[other]) {
					count++
				}
			}
			if slices.Contains(members, id) && count > most(len(members)) {
				return false
			}
		}
	}
	return true
}

// crash ends a process: what it had not made durable is gone. It comes back soon.
func (s *Sim) crash(n *node) {
	if !n.up {
		return
	}
	s.count("crash", 1)
	s.trace("node %d crashes", n.id)
	n.stop()
	down := 5 + s.rand.IntN(80)
	if s.chance(2) {
		down = 1 + s.rand.IntN(4)
	}
	s.after(down, func() {
		if !n.up && !n.gone {
			n.boot()
		}
	})
}

// pause lets a process stand still, with all that arrives meanwhile in its queues.
func (s *Sim) pause(n *node) {
	if !n.up || n.paused {
		return
	}
	s.count("pause", 1)
	s.trace("node %d stands still", n.id)
	n.paused = true
	length := 20 + s.rand.IntN(100)
	if s.chance(3) { // beyond every time-out
		length = 300 + s.rand.IntN(1500)
	}
	life := n.life
	s.after(length, func() {
		if n.life == life {
			n.resume()
		}
	})
}

// failStore lets a store fail until somebody restarts the process.
func (s *Sim) failStore(n *node) {
	if !n.up || n.lost || n.store.failing {
		return
	}
	s.count("store-failed", 1)
	s.trace("the store of node %d fails", n.id)
	n.store.failing = true
	life := n.life
	s.after(30+s.rand.IntN(300), func() {
		if n.life == life {
			s.crash(n)
		}
	})
}

// fillStore leaves a store without room for a while. Restarting the process does not help.
func (s *Sim) fillStore(n *node) {
	if !n.up || n.lost || n.store.full {
		return
	}
	s.count("store-full", 1)
	s.trace("the store of node %d is full", n.id)
	store := n.store
	store.full = true
	s.after(20+s.rand.IntN(600), func() {
		if !n.ill {
			store.full = false
			s.trace("the store of node %d has room", n.id)
		}
	})
}

// clockJump sets a wall clock forward or back. Clients have clocks, too.
func (s *Sim) clockJump() {
	s.count("clock-jump", 1)
	id := s.anyMember().id
	if s.chance(4) {
		id = s.clients[s.rand.IntN(len(s.clients))].id
	}
	s.clock[id] += s.rand.IntN(1001) - 500
	s.trace("the clock of %d jumps, it is off by %d", id, s.clock[id])
}

// loseDisk destroys the state of a node, which comes back without it and does not
// vote (R19); another one takes its place. One at a time: what a majority lost is lost.
func (s *Sim) loseDisk() {
	n := s.anyMember()
	one := func(members int) int { return min(1, (members-1)/2) }
	if !n.up || n.lost || !s.spares(n.id, one, func(other *node) bool { return other.lost }) {
		return
	}
	s.count("disk-lost", 1)
	s.trace("node %d loses its disk", n.id)
	n.lost = true
	s.crash(n)
	n.store = newStore(n)
	s.after(20+s.rand.IntN(200), func() { s.replaceLost(n) })
}

// replaceLost gives the place of a node that has lost its disk to another one: where nothing is being changed, and where it was about to join.
func (s *Sim) replaceLost(n *node) {
	for slot := range uint16(slots) {
		e := s.latest(slot)
		switch {
		case s.healed || n.gone || !slices.Contains(e.all(), n.id):
		case s.changes[slot] == nil:
			s.startChange(slot, 1)
		case e.joins(n.id):
			s.endChange(slot, e.members, "change-dropped")
			s.startChange(slot, 1)
		}
	}
}

// partition cuts one-way links at random, and heals those that were cut.
func (s *Sim) partition() {
	s.blocked = map[[2]uint16]bool{}
	if s.chance(3) {
		return
	}
	s.count("partition", 1)
	members := s.members()
	if s.chance(4) { // isolate one node completely
		id := s.anyMember().id
		for _, other := range members {
			s.blocked[[2]uint16{id, other}], s.blocked[[2]uint16{other, id}] = true, true
		}
		return
	}
	peers := slices.Clone(members)
	for _, p := range s.clients {
		peers = append(peers, p.id)
	}
	for _, a := range members {
		for _, b := range peers {
			if a != b && s.chance(7) {
				s.blocked[[2]uint16{a, b}] = true
			}
			if a != b && s.chance(7) {
				s.blocked[[2]uint16{b, a}] = true
			}
		}
	}
}

// bound is how long an operation may take once a majority is well: longer than a
// home keeps a request, so that one that can reach nobody is out of the way.
const bound = 1500

// settling is how long after that many outcomes may still be unknown: homes that have
// lost their terms without knowing it find out. Of the operations that begin later hardly any is.
const settling = 1000

// How these operations are counted.
const begunWhenWell, unknownWhenWell = "begun-when-well", "unknown-when-well"

// And those of mode batches. What a batch writes takes several rounds, so a home loses its term, to a better one, more often in the middle of it.
const batchesWhenWell, batchesUnknown = "batches-when-well", "batches-unknown"

// heal makes a majority of each slot's newest members well for good, in a joint epoch of both. Each of the others may be
// dead, stand still, be cut off or be well. Changes of members go on, and some begin later.
func (s *Sim) heal() {
	s.healed, s.rivalry = true, 0
	s.blocked = map[[2]uint16]bool{}
	members := s.shuffled(s.members())
	minority := func(members int) int { return (members - 1) / 2 }
	for _, id := range members {
		n := s.nodes[id]
		n.store.full = false
		n.ill = n.lost
	}
	for _, id := range members {
		n := s.nodes[id]
		switch {
		case n.lost:
		case s.spares(id, minority, func(other *node) bool { return other.ill }) && s.chance(2):
			s.afflict(n)
		case !n.up:
			n.boot()
		case n.store.failing:
			n.stop()
			n.boot()
		case n.paused:
			n.resume()
		}
	}
	s.trace("a majority is well:%s", s.describeHealth(members))
	for _, n := range s.nodes[1:] {
		if !slices.Contains(members, n.id) {
			n.ill = true // it has been replaced
		}
		for slot := range uint16(slots) {
			n.learn(slot, s.latest(slot).number)
		}
	}
	for slot := range uint16(slots) {
		s.after(s.rand.IntN(2000), func() {
			if s.changes[slot] == nil && s.chance(2) {
				s.startChange(slot, 1)
			}
		})
	}
	for _, p := range s.clients {
		for slot := range uint16(slots) {
			p.learn(slot, s.latest(slot).number)
		}
		p.left += 6
		p.next()
	}
}

// afflict makes a node useless for good.
func (s *Sim) afflict(n *node) {
	n.ill = true
	switch kind := s.rand.IntN(5); {
	case kind == 0 || !n.up:
		n.stop()
		n.lost = true // should it start again
	case kind == 1:
		n.paused = true
		n.life++ // nothing resumes it
	case kind == 2: // it hears nothing
		s.cutOff(n, true, s.chance(2))
	case kind == 3: // nobody hears it
		s.cutOff(n, s.chance(2), true)
	case kind == 4: // it can write nothing
		n.store.full = true
	}
	s.count("afflicted", 1)
}

func (s *Sim) cutOff(n *node, in, out bool) {
	for other := range len(s.nodes) {
		s.blocked[[2]uint16{uint16(other), n.id}], s.blocked[[2]uint16{n.id, uint16(other)}] = in, out
	}
	for _, p := range s.clients {
		s.blocked[[2]uint16{p.id, n.id}], s.blocked[[2]uint16{n.id, p.id}] = in, out
	}
}

func (s *Sim) describeHealth(members []uint16) (text string) {
	for _, id := range members {
		if n := s.nodes[id]; n.ill {
			text += fmt.Sprintf(" %d ill (up %v, still %v)", id, n.up, n.paused)
		} else {
			text += fmt.Sprintf(" %d", id)
		}
	}
	return text
}

// requireQuiet checks that the homes that are well have nothing left to do, and that every change has ended.
func (s *Sim) requireQuiet() {
	for slot := range uint16(slots) {
		if s.changes[slot] != nil {
			s.overdue = append(s.overdue, fmt.Sprintf("slot %d: the change of its members has not come to an end", slot))
		}
		for _, id := range s.latest(slot).all() {
			if n := s.nodes[id]; !n.ill && n.homes[slot].Active() {
				s.overdue = append(s.overdue, fmt.Sprintf("node %d, slot %d: the home is still at work at the end", id, slot))
			}
		}
	}
}

// repair lets a member write a key again, as one does that has found that a replica missed
// something of it.
func (s *Sim) repair() {
	n := s.anyMember()
	name, slot := s.anyKey()
	s.repairKey(n, cmd{Name: "repair", Key: name, Slot: slot})
}

func (s *Sim) repairKey(n *node, c cmd) {
	n.do(func() {
		if !n.lost {
			n.step(c.Slot, register.Input{Happening: register.Asked, Request: register.NewRequest(c.request(), nil, 0, int64(s.now))})
		}
	})
}
