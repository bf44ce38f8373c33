package replica

import (
	"bytes"

	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/register"
)

// Give gives a request to the home of a slot, and counts it in. act counts it out. The stripe is locked.
func (s *Stripe) Give(number uint16, sl *Slot, r *register.Request, except uint16) {
	s.host.inFlight.Add(1)
	s.host.pending.Add(int64(r.Size()))
	in := &s.round.in
	in.Request, in.Except = r, except
	s.step(number, sl, register.Asked)
	in.Request = nil
}

// step lets something happen to the home of a slot, of which the round's input has the rest, and persists what its replica wants to have
// persisted. The stripe is locked.
func (s *Stripe) step(number uint16, sl *Slot, what register.Happening) {
	in, ready := &s.round.in, &s.round.ready
	in.Happening = what
	sl.home.Step(in, ready)
	for ready.Write.Wanted() {
		in.Happening, in.Err = register.Persisted, s.Persist(&ready.Write)
		sl.home.Step(in, ready)
	}
	s.noteVersions()
	s.touched(number, sl)
}

// persist persists what a step of a replica wants to have persisted, and tells it.
func (s *Stripe) persist(sl *Slot, w *register.Write) error {
	if !w.Wanted() {
		return nil
	}
	return sl.acceptor.Persisted(w, s.Persist(w))
}

// tell tells of the events of what has been answered since the last time, which precede the replies (withEvents), and cuts them off. The stripes of the homes are locked: so the events of a
// key are told in the order in which they happened.
func (r *Round) tell() {
	for ; r.told < len(r.ready.Answers); r.told++ {
		a := &r.ready.Answers[r.told]
		if a.Outcome != register.Done || !a.Request.Tells() || r.refuses(a) {
			continue
		}
		events, reply := notify.Cut(a.Reply)
		if a.Reply = reply; len(events) > 0 {
			r.host.opt.Events.Tell(events)
		}
	}
}

// refuses refuses what a request has read, if too much waits to be sent to whoever has asked, and reports whether it does: a read had no effect, it can be asked for later.
func (r *Round) refuses(a *register.Answered) bool {
	origin, ok := a.Request.Origin.(*Conn)
	if !ok || a.Request.Attempted() || origin.Queued()+r.Queued(origin) <= MaxReplies {
		return false
	}
	r.host.opt.Metrics.RefusedBusy.Inc()
	a.Answer = register.Answer{Outcome: register.NotDone, Reason: register.Overloaded}
	return true
}

// act does what the steps of homes have made ready: the round gathers what is to be sent. No stripe need be locked.
func (r *Round) act() {
	ready := &r.ready
	if len(ready.Votes) > 0 {
		r.waits = true
	}
	if ready.Empty() {
		return
	}
	for i := range ready.Messages {
		m := &ready.Messages[i]
		witness(m)
		for _, member := range m.To {
			if p := r.host.peers.Of(member); p != nil && p.Connected() {
				r.replicate(p, &m.Message)
			}
		}
	}
	for i := range ready.Answers {
		r.reply(&ready.Answers[i])
	}
	if len(ready.Missed) > 0 {
		r.host.node.Missed(ready.Missed)
	}
	for _, e := range ready.Evaluations {
		r.host.evaluate(e)
	}
	for _, e := range ready.Events {
		r.host.opt.Metrics.Events[e].Inc()
	}
	ready.Sent()
	r.told = 0
}

// reply answers a request.
func (r *Round) reply(a *register.Answered) {
	h, req := r.host, a.Request
	h.inFlight.Add(-1)
	h.pending.Add(-int64(req.Size()))
	switch origin := req.Origin.(type) {
	case *Conn:
		if a.Outcome == register.Done && !req.Tells() { // else that was asked before it was told
			r.refuses(a)
		}
		result := protocol.Result{ID: req.OriginID, Status: protocol.Status(a.Outcome), Reason: a.Reason, Hint: a.Hint, Reply: a.Reply}
		if version := req.Command().Version; a.Outcome == register.Done && !version.IsZero() {
			result.Status, result.Version = protocol.StatusWritten, version
		}
		r.Result(origin, &result)
	case func(done bool): // an operation in the background
		origin(a.Outcome == register.Done && (req.Command().Op != OpEvict || bytes.Equal(a.Reply, evicted)))
	}
}
