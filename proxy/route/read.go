package route

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/proxy/quorum"
)

// sendRead asks a majority of the replicas: the home, which has the newest state,
// for the reply, the others for their version; with each further try another majority. One that is near is asked for the reply instead of the home, which then says its version: replies are long, and
// versions short. A joint slot, which would need two, is read at its home.
func (c *Coordinator) sendRead(view *ringView, b *Batch, i int32) {
	s := &b.state
	st := &s.ops[i]
	if view.table.Next(st.slot) != nil {
		st.viaHome = true
		c.sendToHome(view, b, i)
		return
	}
	if b.Ops[i].Nearest && !st.asked && st.tries == 0 && c.sendNearest(view, b, i) {
		return
	}
	st.alone = false
	replicas := view.table.Replicas(st.slot)
	need := quorum.Majority(len(replicas))
	n, behind := 0, false
	add := func(id uint16) {
		if !view.node(id).knows(view, st.slot) {
			behind = true
			return
		}
		for _, have := range st.targets[:n] {
			if have == id {
				return
			}
		}
		if n < need {
			st.targets[n] = id
			n++
		}
	}
	if st.tries == 0 && c.cfg.Rack != "" {
		for _, id := range replicas {
			if l := view.node(id); n == 0 && l.near.Load() && l.condition() == answers {
				add(id)
			}
		}
	}
	if st.tries > 0 {
		// The home may be the one that fails.
	} else if last := uint16(view.homes[st.slot].Load()); last != 0 && view.node(last).condition() == answers {
		add(last)
	} else if view.node(replicas[0]).condition() == answers {
		add(replicas[0])
	}
	for c := answers; c <= silent; c++ {
		for k := range replicas {
			id := replicas[(k+int(st.slot)+int(st.tries))%len(replicas)] // spread over the others
			if l := view.node(id); l.condition() == c && !l.silent() {
				add(id)
			}
		}
	}
	if n < need && behind {
		s.hold(st)
		return
	}
	if n < need {
		s.fail(st, ErrNoMajority)
		return
	}
	st.phase, st.votes, st.waiting = opReading, quorum.Start(len(replicas), need), 1<<need-1
	s.ready--
	for k, id := range st.targets[:need] {
		kind := protocol.ReadVersion
		if k == 0 {
			kind = protocol.ReadValue
		}
		s.message(view, b, i, id, kind)
	}
}

// vote counts a replica's answer to a quorum read.
func (c *Coordinator) vote(s *batchState, st *opState, value bool, r *protocol.Result) {
	if st.alone {
		c.answerAlone(s, st, r)
		return
	}
	var decision quorum.Decision
	switch {
	case r.Status == protocol.StatusValue && value:
		if st.reply = s.replyOf(st, r); st.reply == nil {
			decision = st.votes.Fail()
		} else {
			decision = st.votes.AddValue(r.Version)
		}
	case r.Status == protocol.StatusVersion && !value:
		decision = st.votes.Add(r.Version)
	case r.Status == protocol.StatusAskHome:
		decision = st.votes.Expire()
	default:
		decision = st.votes.Fail()
		if r.Reason == answer.Overloaded {
			st.err = ErrOverloaded
		}
	}
	switch decision {
	case quorum.Agreed:
		c.stats.QuorumReads.Add(1)
		if st.asked {
			c.chosen.add(st.slot, st.votes.Version())
		}
		s.close(st)
	case quorum.AskHome:
		st.viaHome = true
		s.again(st)
	case quorum.Failed:
		if st.err == ErrOverloaded {
			s.later(st)
			return
		}
		s.again(st)
	}
}
