package register

import (
	"math"
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// A batch is run when it is the first in the queues of its keys, and the heads of all are chosen (B2).

// certain reports whether a batch is the first in the queues of all its keys, but for those of the group, and the head of each is chosen. A head of a former term that may
// not be is written again.
func (h *Home) certain(one *batch, g *group) bool {
	for _, ks := range one.keys {
		if !one.next(ks) || !ks.known || ks.reading != nil || one.request.alone && g.writes(ks) {
			return false
		}
	}
	all := true
	for _, ks := range one.keys {
		inTerm := ks.head.Version.Ballot == h.ballot
		if ks.agreed || inTerm && h.holds(ks, ks.head.Version.Seq) {
			continue
		}
		all = false
		if inTerm || h.in.Full || h.tooEarly(ks) {
			continue
		}
		if state, ok := h.headState(ks); ok {
			h.count(WroteBack)
			h.propose(ks, record.Effect{Kind: record.Replaced, State: state}, false)
		}
	}
	return all
}

// purgedBefore returns, for a key without a record, the version that no later one of it is below: its tombstone is purged at once with the own replica's, whose
// floor is raised (R13), and whoever joins or is rebuilt takes the highest floor over (R18).
func (h *Home) purgedBefore(ks *keyState) record.Version {
	if ks.present {
		return record.Version{}
	}
	return h.local.meta.Floor
}

// tried is what comes of a batch: a waiter, and what becomes of its keys.
type tried struct {
	waiter
	keys   []batchKey
	writes bool   // some of them
	reads  bool   // nothing that only others of its group have written, which is not there yet
	delta  []byte // which turns what the one key held into what becomes of it, nil if there is none
}

// try runs a batch on the heads of its keys, or on what the group leaves there. It reports false if nothing came of that yet, or the term is over. The keys are the group's until its evaluation
// is over.
func (h *Home) try(one *batch, g *group) (t tried, done bool) {
	t = tried{waiter: waiter{request: one.request, start: len(one.request.replies)}, reads: true}
	now, back := h.in.Now, h.cameBack(one, g)
	if back != nil {
		now = back.now
	}
	keys, held := g.evaluate(len(one.keys))
	t.keys = keys
	for i, ks := range one.keys {
		if k := g.find(ks); k != nil && k.seq != 0 {
			held[i].State, held[i].Version, t.reads = k.state, record.Version{Ballot: h.ballot, Seq: math.MaxUint64}, false
			continue
		}
		state, ok := h.headState(ks)
		if !ok {
			return t, false
		}
		keys[i].base = ks.head.Version
		held[i].Version = record.Max(ks.head.Version, h.purgedBefore(ks))
		if state.Live() && state.Expired(now) { // (R12) it is deleted before anybody is told so
			keys[i].seq, t.writes = unnumbered, true
			held[i].State.ExpireAt = state.ExpireAt
			continue
		}
		held[i].State = g.copyShort(state)
	}
	if one.request.whole != nil && !h.survey(one) {
		return t, false
	}
	effects, done := h.runBatch(one, back, t.reads, keys, held)
	if !done {
		return t, false
	}
	if len(effects) == 1 && effects[0].Kind == record.Changed && held[0].State.Live() {
		t.delta = effects[0].Delta
	}
	t.end, one.changes = len(one.request.replies), false
	for i := range effects {
		if effects[i].Kind != record.Unchanged {
			keys[i].seq, keys[i].state, t.writes, one.changes = unnumbered, g.keepState(effects[i].Whole()), true, true
		}
	}
	return t, true
}

// evaluateBatch tries a batch. It joins the group, unless it has been dealt with, because it changes nothing (R9), or cannot be, or if the term is over.
func (h *Home) evaluateBatch(one *batch, g *group) {
	t, done := h.try(one, g)
	defer g.evaluated()
	switch {
	case !done:
		return
	case !t.writes && t.reads:
		h.dequeue(one)
		h.waitRead(one, t.waiter) // all heads are certain: it waits for its round
	case t.writes && h.in.Full:
		h.dequeue(one)
		h.noRoom(one.request)
	default:
		g.join(one, t.keys, t.waiter)
		return
	}
	h.lift(one)
	one.recycle()
}

// versionOf is a write of this term.
func (h *Home) versionOf(seq uint64) record.Version {
	return record.Version{Ballot: h.ballot, Seq: seq}
}

// dequeue takes a batch out of all queues.
func (h *Home) dequeue(one *batch) {
	b := h.batches
	if i := slices.Index(b.queue, one); i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
	}
	for _, ks := range one.keys {
		ks.queue = slices.DeleteFunc(ks.queue, func(r *Request) bool { return r == &one.marker })
		b.lookAt(ks)
	}
}

// lift lets the keys of batches that have come to their queues, or have left them, go on: each once, for after that it may have been forgotten.
func (h *Home) lift(batches ...*batch) {
	var lifted map[*keyState]bool
	if len(batches) > 1 { // those of one are distinct
		lifted = make(map[*keyState]bool)
	}
	for _, one := range batches {
		for _, ks := range one.keys {
			if h.phase != leading || lifted[ks] {
				continue
			}
			if lifted != nil {
				lifted[ks] = true
			}
			h.advance(ks)
		}
	}
}
