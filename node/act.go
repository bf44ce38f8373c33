package node

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
)

// give gives a request to the home of a slot, and counts it in. act counts it out. The stripe is locked.
func (s *stripe) give(number uint16, sl *slot, r *register.Request, except uint16) {
	s.node.inFlight.Add(1)
	s.node.pending.Add(int64(r.Size()))
	in := &s.out.in
	in.Request, in.Except = r, except
	s.step(number, sl, register.Asked)
	in.Request = nil
}

// step lets something happen to the home of a slot, of which the outbox's input has the rest. The stripe is locked.
func (s *stripe) step(number uint16, sl *slot, what register.Happening) {
	s.out.in.Happening = what
	sl.home.Step(&s.out.in, &s.out.ready)
	s.touched(number, sl)
}

// act does what the steps of homes have made ready: the outbox gathers what is to be sent. No stripe need be locked.
func (o *outbox) act() {
	ready := &o.ready
	if len(ready.Votes) > 0 {
		o.waits = true
	}
	if ready.Empty() {
		return
	}
	for i := range ready.Messages {
		m := &ready.Messages[i]
		for _, member := range m.To {
			if p := o.node.peerOf(member); p != nil && p.connected() {
				o.replicate(p.index, &m.Message)
			}
		}
	}
	for i := range ready.Answers {
		o.reply(&ready.Answers[i])
	}
	for i := range ready.Missed {
		o.node.missed(&ready.Missed[i])
	}
	for _, e := range ready.Events {
		o.node.Metrics.Events[e].Inc()
	}
	ready.Sent()
}

// reply answers a request.
func (o *outbox) reply(a *register.Answered) {
	n, r := o.node, a.Request
	n.inFlight.Add(-1)
	n.pending.Add(-int64(r.Size()))
	switch origin := r.Origin.(type) {
	case *wire.ServerConn:
		if a.Outcome == register.Done && !r.Attempted() && origin.Queued()+o.queued(origin) > maxReplies {
			n.Metrics.RefusedBusy.Inc()
			a.Answer = register.Answer{Outcome: register.NotDone, Reason: register.Overloaded} // a read had no effect: it can be asked for later
		}
		o.result(origin, &protocol.Result{ID: r.OriginID, Status: protocol.Status(a.Outcome), Reason: a.Reason, Hint: a.Hint, Reply: a.Reply})
	case func(done bool): // an operation in the background
		origin(a.Outcome == register.Done)
	}
}

// missed notes what a member has missed.
func (n *Node) missed(m *register.Missed) {
	if set := n.hintsOf(m.Member); set == nil {
		return
	} else if m.Key == nil {
		set.Mark(m.Slot)
	} else {
		set.Add(m.Slot, m.Key)
	}
}
