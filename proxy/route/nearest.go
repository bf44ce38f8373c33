package route

import (
	"slices"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/quorum"
)

// A read of a READONLY client (Op.Nearest) asks one replica first, the nearest one. If what that holds is known to have been chosen it is the answer, however old; else the read
// begins anew, as any other, and ends with one more version that is known to be chosen (register/protocol.md, "Reads of one replica").

// sendNearest asks the nearest replica for the reply, and reports whether there is one.
func (c *Coordinator) sendNearest(view *ringView, b *Batch, i int32) bool {
	st := &b.state.ops[i]
	id := c.nearest(view, st.slot)
	if id == 0 {
		return false
	}
	st.phase, st.alone, st.targets[0], st.waiting = opReading, true, id, 1
	b.state.ready--
	b.state.message(view, b, i, id, protocol.ReadValue)
	return true
}

// nearest returns the replica of a slot to ask alone: that of the node in this process, or one in this proxy's rack, if there is any, and of several the one whose turn it is. There is none, 0, while no majority of the replicas
// answers this proxy: who is cut off with some of them would see nothing new for as long as that lasts.
func (c *Coordinator) nearest(view *ringView, slot uint16) (id uint16) {
	replicas := view.table.Replicas(slot)
	answering, nearness := 0, -1
	for k := range replicas {
		other := replicas[(k+int(slot))%len(replicas)]
		l := view.node(other)
		if l.condition() != answers {
			continue
		}
		answering++
		if n := l.nearness(); l.knows(view, slot) && n > nearness {
			id, nearness = other, n
		}
	}
	if answering < quorum.Majority(len(replicas)) {
		return 0
	}
	return id
}

// nearness says how near the node is: the higher the nearer.
func (l *nodeLink) nearness() int {
	switch {
	case l.own:
		return 2
	case l.near.Load():
		return 1
	}
	return 0
}

// Holds reports whether the node in this process has a replica of a slot.
func (c *Coordinator) Holds(slot uint16) bool {
	view := c.ring.Load()
	return view != nil && slices.ContainsFunc(view.table.Replicas(slot), func(id uint16) bool { return view.node(id).own })
}

// answerAlone takes the answer of a replica that was asked alone.
func (c *Coordinator) answerAlone(s *batchState, st *opState, r *protocol.Result) {
	if r.Status == protocol.StatusValue && (r.Version.IsZero() || c.chosen.has(st.slot, r.Version)) {
		if reply := s.replyOf(st, r); reply != nil {
			c.stats.NearestReads.Add(1)
			s.done(st, reply)
			return
		}
	}
	st.asked = true
	s.again(st)
	st.tries--
}
