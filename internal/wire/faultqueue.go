//go:build faults

package wire

import (
	"slices"
	"time"
)

// faultQueue holds the frames of a connection until they are due. It belongs to the
// writer.
type faultQueue struct {
	held []heldFrame // by due
	// bytes is the length of all held frames.
	bytes int
	// last is when the last frame leaves of those that keep their order.
	last time.Duration
	out  []byte
}

// heldFrame is a copy of a frame, and the rule that holds it, if any.
type heldFrame struct {
	due   time.Duration
	frame []byte
	rule  *activeRule
}

// inOrder holds a frame until due, and at least as long as those before it.
func (q *faultQueue) inOrder(frame []byte, due time.Duration, rule *activeRule) {
	q.last = max(q.last, due)
	q.anywhere(frame, q.last, rule)
}

// anywhere holds a frame until due.
func (q *faultQueue) anywhere(frame []byte, due time.Duration, rule *activeRule) {
	at := len(q.held)
	for at > 0 && q.held[at-1].due > due {
		at--
	}
	q.held = slices.Insert(q.held, at, heldFrame{due, slices.Clone(frame), rule})
	q.count(len(frame), rule)
}

func (q *faultQueue) count(bytes int, rule *activeRule) {
	q.bytes += bytes
	if rule != nil {
		rule.held.Add(int64(bytes))
	}
}

// release makes due what would be later, without changing the order.
func (q *faultQueue) release(now time.Duration) {
	for i := range q.held {
		q.held[i].due = min(q.held[i].due, now)
	}
	q.last = min(q.last, now)
}

// ready reports whether a frame is due.
func (q *faultQueue) ready(now time.Duration) bool { return len(q.held) > 0 && q.held[0].due <= now }

// due takes the frames that are due, as one piece that is valid until the next call.
func (q *faultQueue) due(now time.Duration) []byte {
	if cap(q.out) > keepSize {
		q.out = nil
	}
	q.out = q.out[:0]
	n := 0
	for ; n < len(q.held) && q.held[n].due <= now; n++ {
		q.out = append(q.out, q.held[n].frame...)
		q.count(-len(q.held[n].frame), q.held[n].rule)
	}
	q.held = slices.Delete(q.held, 0, n)
	return q.out
}

// drop lets go of everything.
func (q *faultQueue) drop() {
	for _, h := range q.held {
		q.count(-len(h.frame), h.rule)
	}
	q.held = nil
}
