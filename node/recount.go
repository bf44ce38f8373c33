package node

import (
	"context"
	"math/bits"
	"time"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring"
)

// What a slot's digest says is believed by all who compare it. So it is derived again from the
// records, one slot after the other, for ever: a fault in the bookkeeping, and a record that cannot be
// read any more, show themselves though nobody asks for the key.

const (
	// recountPass is how long it takes at least to count all slots once.
	recountPass = time.Hour
	// recountStep is how many records are counted without letting others at the slot.
	recountStep = 500
)

// recounter counts records. It belongs to one goroutine.
type recounter struct {
	node *Node
	next uint16
}

// step counts one slot.
func (r *recounter) step(ctx context.Context) {
	v := r.node.view.Load()
	if v == nil || r.node.failed.Load() {
		return
	}
	if v.table.Contains(r.next, v.self) {
		r.node.recount(ctx, r.next)
	}
	r.next = (r.next + 1) % ring.Slots
}

// sums are what the records of a slot add up to.
type sums struct {
	stats  engine.SlotStats
	leaves engine.Leaves
}

// slotSums returns what the engine says of a slot.
func (n *Node) slotSums(number uint16) (sums, error) {
	st := n.lock(number, nil)
	defer st.unlock()
	if err := st.readable(number); err != nil {
		return sums{}, err
	}
	return n.sums(number)
}

// sums is slotSums when the stripe is locked.
func (n *Node) sums(number uint16) (s sums, err error) {
	if s.stats, err = n.engine.Stats(number); err != nil {
		return sums{}, err
	}
	s.leaves, err = n.engine.Leaves(number)
	return s, err
}

// recount counts the records of a slot and corrects what the engine says of it. A slot that is
// written meanwhile is left for the next time.
func (n *Node) recount(ctx context.Context, number uint16) {
	before, err := n.slotSums(number)
	var counted sums
	for from := engine.Position(0); err == nil && from < engine.EndPosition && ctx.Err() == nil; {
		from, err = n.countSome(number, from, &counted)
	}
	if err != nil {
		n.unreadable(number, err)
		return
	}
	st := n.lock(number, nil)
	defer st.unlock()
	after, err := n.sums(number)
	if err != nil || ctx.Err() != nil || after != before || counted == before {
		return
	}
	n.Metrics.Miscounted.Inc()
	n.log.Error("what the store says of a slot is not what it holds; it is corrected: please report this", "slot", number,
		"said", before.stats, "holds", counted.stats, "leaves", bits.OnesCount64(before.leaves.Differing(&counted.leaves)))
	if err := n.engine.Correct(number, counted.stats, counted.leaves); err != nil {
		st.unreadable(number, err)
	}
}

// countSome counts some records of a slot from a place on, and returns the place of the next one.
func (n *Node) countSome(number uint16, from engine.Position, counted *sums) (engine.Position, error) {
	st := n.lock(number, nil)
	defer st.unlock()
	left := recountStep
	return st.scan(number, from, engine.EndPosition, func() bool { return left <= 0 }, func(pos engine.Position, key []byte, rec record.Record) {
		counted.stats.Add(key, rec)
		counted.leaves.Add(pos, rec.Version)
		left--
	})
}
