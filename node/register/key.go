package register

import "github.com/quolldb/quoll/internal/record"

// keyState is what a home knows of one key in its current term. It exists only
// while something is in flight (see droppable).
type keyState struct {
	key     []byte
	held    []uint64   // highest seq of this term that each member holds
	queue   []*Request // not yet evaluated, in order
	waiting []waiter   // evaluated, not yet answered
	keyTerm
	room keyRoom
}

// keyTerm is what of a keyState begins empty.
type keyTerm struct {
	known   bool          // head is valid in this term
	present bool          // head is a record, not just what the slot's clear left
	agreed  bool          // a quorum holds head, though it is of an older term
	head    record.Record // newest state proposed or read in this term
	lent    bool          // the own replica has the value of head: see headState
	exact   set           // members that acknowledged exactly head (for purge)
	reading *syncRead     // running sync-read, nil if none
	doubt   []*Request
	sent    int64 // when something was sent last
	settled int64 // when a quorum held a tombstone head first, 0 before
	place   int   // in the keySet
	pinned  bool  // a batch needs to know of it,
	barred  bool  // and has yet to write it: nothing else is proposed
}

// keyRoom is what the slices of a keyState begin with, so that most keys are one piece of memory.
type keyRoom struct {
	key     [32]byte
	held    [3]uint64
	queue   [1]*Request
	waiting [1]waiter
}

// lend makes a record the head that the own replica has, or will have at the end of the step. So its value is not copied if it is short: a longer
// one is shared.
func (ks *keyState) lend(rec record.Record) {
	if ks.lent = len(rec.State.Value) > 0 && len(rec.State.Value) <= record.CopiedValue; ks.lent {
		rec.State.Value = nil
	}
	ks.head = rec
}

// syncRead collects the replies of a sync-read (R4).
type syncRead struct {
	round uint64 // the first one: replies to an earlier sync-read of the key are stale
	from  set
	found bool // something was reported:
	best  record.Record
	at    set // members that reported exactly best, and may agree on it
	real  bool
	floor record.Version
}

// key returns the state of a request's key. In a term the home finds again in its own
// replica what it proposed last: a state that is there under the own ballot was held
// by a quorum when the keyState was dropped.
func (h *Home) key(r *Request) *keyState {
	if ks := h.keys.get(r.key); ks != nil {
		return ks
	}
	return h.begin(r.key, r.takeSpare())
}

// begin makes of an empty keyState that of a key which has none.
func (h *Home) begin(name []byte, ks *keyState) *keyState {
	h.keys.add(name, len(h.config.members), ks)
	if h.phase == leading {
		h.recall(ks)
	}
	return ks
}

// recall makes the head known from the own replica if this term wrote it.
func (h *Home) recall(ks *keyState) {
	rec, present, err := h.local.Read(ks.key)
	if err != nil {
		h.fail(err)
		return
	}
	if rec.Version.Less(h.clear.version) { // the replica may be about to execute it
		rec, present = record.Record{Version: h.clear.version}, false
	}
	if rec.Version.Ballot != h.ballot {
		return
	}
	ks.known, ks.present = true, present
	ks.lend(rec)
	ks.agreed = present || h.clear.held(h.config, rec.Version.Seq)
}

// advance evaluates the queue of one key, in order, on top of its head. Several
// proposals of one key may be in flight (pipelining).
func (h *Home) advance(ks *keyState) {
	if h.heldBack(ks) {
		return
	}
	for h.phase == leading && len(ks.queue)+len(ks.doubt) > 0 && ks.reading == nil {
		if h.lostTerm() {
			h.stepDown()
			return
		}
		if h.excluded(ks) {
			if h.refusesFull(ks) {
				continue
			}
			if h.readsEarly(ks) {
				h.read(ks)
			}
			break
		}
		if !ks.known && (len(ks.doubt) > 0 || !ks.queue[0].blind) {
			h.read(ks)
			return
		}
		if one := ks.queue[0].batch; one != nil { // it is evaluated when it is the first of all its keys
			if !h.batches.busy && h.own(one) && h.evaluateOwn(one) {
				continue
			}
			break
		}
		var state record.State
		if !ks.queue[0].blind { // such a one needs none
			var ok bool
			if state, ok = h.headState(ks); !ok {
				return
			}
		}
		h.evaluate(ks, ks.shift(), state)
	}
	if h.phase == leading {
		h.settle(ks)
	}
}

// shift takes the first request from the queue. An emptied queue keeps its memory.
func (ks *keyState) shift() *Request {
	r := ks.queue[0]
	ks.queue[0] = nil
	if len(ks.queue) == 1 {
		ks.queue = ks.queue[:0]
	} else {
		ks.queue = ks.queue[1:]
	}
	return r
}

// evaluate runs one request on the head's state and proposes its effect, or makes it wait
// until the head is certain.
func (h *Home) evaluate(ks *keyState, r *Request, state record.State) {
	now, expired := h.in.Now, false
	if state.Live() && state.Expired(now) {
		state, expired = record.State{}, true
	}
	start := len(r.replies)
	r.cmd.Expired, r.cmd.Stale = expired, !r.cmd.Of.IsZero() && r.cmd.Of != ks.head.Version
	replies, effect, err := h.env.Execute(r.replies, state, &r.cmd, now)
	if err != nil { // what cannot be read ends the home, as when a record cannot be
		ks.queue = append(ks.queue, r)
		h.fail(err)
		return
	}
	r.replies = replies
	w := waiter{request: r, start: start, end: len(r.replies)}
	switch {
	case effect.Kind != record.Unchanged:
		if expired {
			effect.Kind = record.Replaced // a delta is on the state without the expiry
		}
	case !ks.known: // a faulty blind write: its error depends on no state
		h.answer(r, Answer{Outcome: Done, Reply: r.replies[w.start:w.end]})
		return
	case expired: // (R12) the deletion is written before nil is answered
		effect = record.Effect{Kind: record.Replaced, State: state}
	default:
		h.wait(ks, w)
		return
	}
	if h.in.Full {
		h.noRoom(r)
		return
	}
	w.needSeq = h.seq + 1
	r.attempted(record.Version{Ballot: h.ballot, Seq: h.seq + 1}, w.start, w.end)
	ks.waiting = append(ks.waiting, w)
	h.propose(ks, effect, r.blind)
}

// propose issues the next version of the term for a key (R6, R7). blind: it depends on no state before it.
func (h *Home) propose(ks *keyState, effect record.Effect, blind bool) {
	h.seq++
	h.proposeAs(ks, h.seq, effect, blind)
}

// proposeAs is propose as a write of the term whose number has been taken.
func (h *Home) proposeAs(ks *keyState, seq uint64, effect record.Effect, blind bool) {
	x := h.out.request(Accept)
	x.Blind = blind
	x.Key, x.Version, x.Base = ks.key, h.versionOf(seq), ks.head.Version
	switch {
	case !ks.known:
		h.count(BlindOnCold)
	case effect.Kind >= record.Changed && h.localHolds(ks):
		h.count(DeltaSent)
		x.IsDelta, x.Delta = true, effect.Delta
	}
	patches := x.IsDelta && effect.Kind == record.Patched
	if !patches || h.unserved(ks) != nil { // with a delta it is for the own replica only, which patches what it has
		x.State = effect.Whole()
	}
	if len(ks.waiting) > 1 {
		h.count(Pipelined)
	}
	ks.known, ks.agreed, ks.present, ks.exact, ks.settled = true, false, true, 0, 0
	ks.lend(record.Record{Version: x.Version, State: effect.State})
	ks.sent = h.in.Mono
	h.broadcast(x)
	if patches {
		x.Delta = h.out.keepPatch(effect.Patch())
	}
}

// read begins to read a key from all members (R4).
func (h *Home) read(ks *keyState) {
	ks.reading, ks.sent = &syncRead{round: h.round + 1}, h.in.Mono
	h.askFor(ks)
}

// askFor asks all members what they hold of a key (R4).
func (h *Home) askFor(ks *keyState) {
	x := h.out.request(SyncRead)
	x.Key = ks.key
	h.broadcast(x)
}

// localHolds reports whether the own replica holds the head: what this term has proposed it does, or the term is over. It may lag behind what a
// sync-read found; it is then given the full state, like everybody else.
func (h *Home) localHolds(ks *keyState) bool {
	if ks.head.Version.Ballot == h.ballot {
		return true
	}
	rec, _, err := h.local.Read(ks.key)
	return err == nil && rec.Version == ks.head.Version
}
