package register

import (
	"bytes"

	"github.com/quolldb/quoll/internal/record"
)

// A batch of one key needs no record: it is written to that key, as any command is (B13).

// own reports whether a batch is written to its key itself. One that was tried goes the same way again: a version that it may have got says nothing at another key (R11). A key that several
// wait for gets them all in one write, through the record, unless it is a large object: that would be sent whole, and each of them is a delta.
func (h *Home) own(one *batch) bool {
	r := one.request
	switch {
	case r == nil || len(one.keys) != 1 || one.grouped || one.away != nil:
		return false
	case len(r.attempts) > 0:
		return r.ofOneKey()
	}
	ks := one.keys[0]
	return (len(ks.queue) == 1 || ks.head.State.Object != nil) && !h.excluded(ks)
}

// ofOneKey reports whether a batch is of its key alone, where it is looked for if it is in doubt, and not at the record.
func (r *Request) ofOneKey() bool { return len(r.keys) == 1 && !bytes.Equal(r.key, BatchKey) }

// waitRead has a batch that changes nothing wait for its round. One of a single key may share the fate of a write that is sent behind it (R11).
func (h *Home) waitRead(one *batch, w waiter) {
	if r := one.request; len(r.keys) == 1 && len(r.attempts) == 0 {
		r.key = r.keys[0]
	}
	h.wait(one.keys[0], w)
}

// evaluateOwn evaluates a batch that is written to its key itself, if it is the first in its queue, and the head is chosen (B2). It reports false if that has to wait; otherwise the batch is not in
// the queue any more.
func (h *Home) evaluateOwn(one *batch) bool {
	ks, r := one.keys[0], one.request
	switch {
	case ks.queue[0] != &one.marker: // others are, maybe of a record that is being put together
		return false
	case h.excluded(ks):
		h.batches.needed = true
		return false
	}
	g := newGroup()
	defer g.recycle()
	if !h.certain(one, g) || h.phase != leading {
		return false
	}
	t, done := h.try(one, g)
	defer g.evaluated()
	if !done {
		return false
	}
	h.dequeue(one)
	switch {
	case !t.writes:
		h.waitRead(one, t.waiter)
	case h.in.Full:
		h.noRoom(r)
	default:
		r.key, t.needSeq = r.keys[0], h.seq+1
		t.attempted(one.changes, h.versionOf(t.needSeq))
		ks.waiting = append(ks.waiting, t.waiter)
		h.count(BatchOfOne)
		effect := record.Effect{Kind: record.Replaced, State: t.keys[0].state}
		if t.delta != nil {
			effect.Kind, effect.Delta = record.Changed, t.delta
		}
		h.propose(ks, effect, false)
	}
	one.recycle()
	return true
}
