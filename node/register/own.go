package register

import (
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// A home's own replica is asked as all others are, in the order in which the home has sent things, but at the end of the step, without a way
// in between. So until then the home has to know by itself what the replica does not show yet (see recall and localHolds).

// serve lets the own replica execute what it has been sent, until it wants something persisted.
func (h *Home) serve() {
	out := h.out
	for out.served < len(out.Messages) {
		x := &out.Messages[out.served]
		out.served++
		if !slices.Contains(x.To, h.self) {
			continue
		}
		x.Message.To = h.self
		reply := out.vote()
		err := h.local.Step(&x.Message, reply, &out.Write)
		if err == nil && out.Write.Wanted() {
			return
		}
		h.served(x, reply, err)
	}
}

// headState returns the state of the head. A short value is the own replica's, or of the message that is about to bring it there: it is borrowed
// until the store is asked for something else. It reports false if the home has ended, or its term: the own replica would hold the head otherwise.
func (h *Home) headState(ks *keyState) (record.State, bool) {
	if !ks.lent {
		return ks.head.State, true
	}
	version, x := ks.head.Version, h.unserved(ks)
	switch {
	case x == nil:
	case x.State.Live():
		return x.State, true
	default:
		version = x.Base
	}
	rec, _, err := h.local.Read(ks.key)
	switch {
	case err != nil:
		h.fail(err)
	case rec.Version != version:
		h.stepDown()
	case x != nil:
		p, ok := record.PatchOf(rec.State, x.Delta)
		return p.Of(rec.State, nil), ok
	default:
		return rec.State, true
	}
	return record.State{}, false
}

// unserved returns the message with a key's head if the own replica has not executed it yet.
func (h *Home) unserved(ks *keyState) *Outgoing {
	for i := len(h.out.Messages) - 1; i >= h.out.served; i-- {
		if x := &h.out.Messages[i]; x.Kind == Accept && x.Version == ks.head.Version && x.Base != x.Version {
			return x
		}
	}
	return nil
}

// persisted goes on with what wanted something persisted.
func (h *Home) persisted(err error) {
	out := h.out
	err = h.local.Persisted(&out.Write, err)
	h.served(&out.Messages[out.served-1], &out.Votes[len(out.Votes)-1], err)
}

// served deals with the own replica's reply, the last of the votes. It counts when it is durable. A refusal, or a write that there is
// no room for, ends the term at once: from then on the replica does not show what this home
// proposed last. Nor does it get what else the step has sent.
func (h *Home) served(x *Outgoing, reply *Message, err error) {
	out := h.out
	x.forOthers()
	switch {
	case errors.Is(err, ErrNoRoom):
		out.unvote()
		if h.phase != idle {
			h.stepDown()
		}
		out.serveNone()
	case err != nil:
		out.unvote()
		h.fail(err)
		out.serveNone()
	case reply.Result != OK && h.phase != idle:
		h.observe(reply)
		out.unvote()
		h.stepDown()
		out.serveNone()
	case h.counted(reply):
		out.unvote()
	default:
		reply.Key, reply.Found.Value = out.keep(reply.Key), out.keepShort(reply.Found.Value)
		if reply.Present {
			x.Base = reply.Held // of a sync-read: the others need not show what is here
		}
	}
}

// serveNone keeps the own replica from what is left of the messages.
func (out *Ready) serveNone() {
	for ; out.served < len(out.Messages); out.served++ {
		out.Messages[out.served].forOthers()
	}
}

// forOthers takes out what does not travel.
func (x *Outgoing) forOthers() {
	if x.IsDelta {
		x.State = record.State{}
	}
}

// counted counts the own replica's vote for a write if it may be counted at once, and reports whether that is all that it
// is good for: other votes have to come, and will find it.
func (h *Home) counted(reply *Message) bool {
	if reply.Kind != Accept || h.reads > 0 || !h.in.Instant {
		return false
	}
	ks := h.keys.get(reply.Key)
	if ks == nil || !ks.present || ks.head.Version != reply.Held {
		return false
	}
	i := h.config.index(h.self)
	ks.held[i] = max(ks.held[i], reply.Held.Seq)
	ks.exact.add(i)
	return !h.holds(ks, reply.Held.Seq)
}
