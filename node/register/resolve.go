package register

import (
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// resolve decides the fate of requests that were sent in an earlier term of this
// process, given the version that the sync-read found (R11). The identity write makes the
// decision final: no version of an earlier term can be adopted after it.
func (h *Home) resolve(ks *keyState, floor record.Version, contains ...record.Version) {
	if len(ks.doubt) == 0 {
		return
	}
	redo := h.decide(ks, h.seq+1, ks.present, floor, append(contains, ks.head.Version)...)
	if len(redo)+len(ks.waiting) > 0 {
		h.propose(ks, record.Effect{Kind: record.Replaced, State: ks.head.State}, false)
	}
	h.doAgain(ks, redo)
}

// doAgain lets requests that were in doubt about a key be done again: before those that came later, but for batches of several keys, which enter all their queues at once. What is of this key alone waits
// until the caller goes on with it.
func (h *Home) doAgain(ks *keyState, redo []*Request) {
	if len(redo) == 0 {
		return
	}
	var again, batches []*Request
	for _, r := range redo {
		switch {
		case r.run == nil:
			again = append(again, r)
		case r.ofOneKey():
			again = append(again, &h.waitingBatch(r).marker)
		default:
			batches = append(batches, r)
		}
	}
	ks.queue = append(again, ks.queue...)
	for _, r := range batches {
		h.enqueueBatch(r)
	}
}

// decide decides on the requests in doubt about a key that was found in the last of some versions, which contains the others. What is proposed next, as this write of the term, makes that final. It
// returns those that are to be done again.
func (h *Home) decide(ks *keyState, seq uint64, present bool, floor record.Version, versions ...record.Version) (redo []*Request) {
	found := versions[len(versions)-1]
	doubt := ks.doubt
	ks.doubt = nil
	h.doubt -= len(doubt)
	next := h.versionOf(seq)
	for _, r := range doubt {
		first := r.attempts[0].version
		var match *attempt
		sameTerm := false
		for _, v := range slices.Backward(versions) {
			if m, same := matching(r.attempts, v); same && match == nil {
				match, sameTerm = m, true
			}
		}
		foreign := !sameTerm && first.Ballot.Less(found.Ballot)
		purged := !present && found.Less(first) && !floor.Less(first)
		switch {
		case match != nil:
			h.count(ResolvedIncluded)
			ks.waiting = append(ks.waiting, waiter{request: r, start: match.start, end: match.end, needSeq: next.Seq})
			r.shares(next, match.start, match.end)
		case foreign || purged:
			h.count(ResolvedUnknown)
			h.answer(r, Answer{Outcome: r.undecided(), Reason: LostTerm})
		default:
			h.count(ResolvedRedo)
			redo = append(redo, r)
		}
	}
	return redo
}

// matching returns the newest attempt that the found version contains, and whether
// found was written in a term in which there was an attempt.
func matching(attempts []attempt, found record.Version) (match *attempt, sameTerm bool) {
	for i := range attempts {
		if attempts[i].version.Ballot != found.Ballot {
			continue
		}
		sameTerm = true
		if !found.Less(attempts[i].version) {
			match = &attempts[i]
		}
	}
	return match, sameTerm
}

// stepDown gives up the term. Requests that were sent stay in doubt (R11); the
// others are turned away, so that their proxy can go to the home that won.
func (h *Home) stepDown() {
	h.missedAll()
	h.giveUp()
}

// giveUp is stepDown when it has been told what members missed.
func (h *Home) giveUp() {
	h.count(SteppedDown)
	h.interrupted++
	old, c := h.keys.snapshot(), h.clear
	h.phase, h.handing, h.reads = idle, 0, 0
	h.keys.reset()
	h.clear = &noClear
	batches := h.loseBatches()
	h.notBefore = h.in.Mono + h.backoff()
	hint := h.local.rival().Member()
	if hint == h.self || h.config.index(hint) < 0 {
		hint = 0
	}
	for _, ks := range old {
		ks.shareFate(h.ballot)
		doubt := ks.doubt
		h.doubt -= len(ks.doubt)
		for _, w := range ks.waiting {
			doubt = append(doubt, w.request)
		}
		for _, r := range append(doubt, ks.queue...) {
			if r.batch == nil {
				h.release(r, hint)
			}
		}
	}
	for _, w := range c.waiting { // a clear cannot be looked up by a sync-read of one key
		h.answer(w.request, Answer{Outcome: Unknown, Reason: LostTerm})
	}
	parked := h.parked
	h.parked = nil
	for _, r := range slices.Concat(batches, c.queue, parked) {
		h.release(r, hint)
	}
}

// shareFate lets what was evaluated without effect in the term of a ballot be in doubt with the write that was sent behind it (R11): if that is included, the state
// that it was evaluated on was the newest one until then. Turned away it would come after that write, which its client sent later.
func (ks *keyState) shareFate(term record.Ballot) {
	var behind record.Version
	for i := len(ks.waiting) - 1; i >= 0; i-- {
		w := &ks.waiting[i]
		r := w.request
		if n := len(r.attempts); n > 0 && r.attempts[n-1].version.Ballot == term {
			behind = r.attempts[n-1].version
		} else if !behind.IsZero() && (r.run == nil || r.ofOneKey()) { // of several keys others may have been written in a later term
			r.shares(behind, w.start, w.end)
		}
	}
}

// release keeps a request in doubt if it was ever sent, else turns it away.
func (h *Home) release(r *Request, hint uint16) {
	switch {
	case len(r.attempts) == 0:
		h.answer(r, Answer{Outcome: NotDone, Reason: LostTerm, Hint: hint})
	case h.failed != nil || h.config.index(h.self) < 0 || h.expired(r):
		h.answer(r, Answer{Outcome: r.undecided(), Reason: LostTerm})
	default:
		h.doubt++
		ks := h.key(r)
		ks.doubt = append(ks.doubt, r)
	}
}

// expired reports whether a request has waited for too long: its proxy has given up on it, or will. As long
// as there is hope it is only slow.
func (h *Home) expired(r *Request) bool {
	age := h.in.Mono - r.Born
	return age > h.timing.Request && (age > h.timing.Slow || !h.hopeful(h.in.Mono))
}

// hopeful reports whether a quorum was alive at the last Tick, or not long before it: that it is silent for a moment is no
// reason to give up.
func (h *Home) hopeful(now int64) bool { return now-h.reached <= h.timing.Request }

// reachesQuorum reports whether a quorum of the members is thought to answer.
func (h *Home) reachesQuorum() bool {
	var s set
	for i, id := range h.config.members {
		if id == h.self || h.env.Alive(id) {
			s.add(i)
		}
	}
	return h.config.quorum(s)
}

// backoff is short and random, so that rival homes do not meet again and again. Those that interrupt each other before any of them has answered something
// wait for longer each time.
func (h *Home) backoff() int64 {
	return 1 + h.env.Rand(h.timing.Backoff<<min(max(h.interrupted-1, 0), 4))
}

// abandon answers everything and forgets the term for good.
func (h *Home) abandon(reason Reason) {
	old, c, parked := h.keys.snapshot(), h.clear, h.parked
	h.phase, h.handing, h.doubt, h.reads = idle, 0, 0, 0
	h.keys.reset()
	h.clear, h.parked = &noClear, nil
	batches := h.loseBatches()
	finish := func(r *Request) {
		if r.batch == nil {
			h.answer(r, Answer{Outcome: r.undecided(), Reason: reason})
		}
	}
	for _, ks := range old {
		for _, w := range ks.waiting {
			finish(w.request)
		}
		for _, r := range append(ks.doubt, ks.queue...) {
			finish(r)
		}
	}
	for _, w := range c.waiting {
		finish(w.request)
	}
	for _, r := range slices.Concat(batches, c.queue, parked) {
		finish(r)
	}
}
