package repair

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

// recountAll counts the slots of this node, one after the other, until ctx ends.
func (r *Repairer) recountAll(ctx context.Context) {
	ticker := time.NewTicker(recountPass / ring.Slots)
	defer ticker.Stop()
	for next := uint16(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		table, self := r.node.Ring()
		if table == nil {
			continue
		}
		if table.Contains(next, self) {
			r.Recount(ctx, next)
		}
		next = (next + 1) % ring.Slots
	}
}

// sums are what the records of a slot add up to.
type sums struct {
	stats  engine.SlotStats
	leaves engine.Leaves
}

// sums returns what the engine says of a slot.
func (r *Repairer) sums(slot uint16) (sums, error) {
	locked := r.node.Lock(slot)
	defer locked.Unlock()
	if err := locked.Readable(slot); err != nil {
		return sums{}, err
	}
	return sumsOf(locked, slot)
}

// sumsOf is sums when the slot is locked.
func sumsOf(locked Slots, slot uint16) (s sums, err error) {
	if s.stats, err = locked.Stats(slot); err != nil {
		return sums{}, err
	}
	s.leaves, err = locked.Leaves(slot)
	return s, err
}

// Recount counts the records of a slot and corrects what the engine says of it. A slot that is
// written meanwhile is left for the next time.
func (r *Repairer) Recount(ctx context.Context, slot uint16) {
	before, err := r.sums(slot)
	var counted sums
	for from := engine.Position(0); err == nil && from < engine.EndPosition && ctx.Err() == nil; {
		from, err = r.countSome(slot, from, &counted)
	}
	if err == nil && ctx.Err() == nil && counted != before {
		err = r.correct(slot, before, counted)
	}
	if err != nil {
		r.node.Unreadable(slot, err)
	}
}

// countSome counts some records of a slot from a place on, and returns the place of the next one.
func (r *Repairer) countSome(slot uint16, from engine.Position, counted *sums) (engine.Position, error) {
	locked := r.node.Lock(slot)
	defer locked.Unlock()
	left := recountStep
	return locked.Scan(slot, from, func() bool { return left <= 0 }, func(pos engine.Position, key []byte, rec record.Record) {
		counted.stats.Add(key, rec)
		counted.leaves.Add(pos, rec.Version)
		left--
	})
}

// correct corrects what the engine says of a slot, if that is what it said before.
func (r *Repairer) correct(slot uint16, before, counted sums) error {
	locked := r.node.Lock(slot)
	defer locked.Unlock()
	if after, err := sumsOf(locked, slot); err != nil || after != before {
		return nil // it is looked at again
	}
	r.opt.Metrics.Miscounted.Inc()
	r.log.Error("what the store says of a slot is not what it holds; it is corrected: please report this", "slot", slot,
		"said", before.stats, "holds", counted.stats, "leaves", bits.OnesCount64(before.leaves.Differing(&counted.leaves)))
	return locked.Correct(slot, counted.stats, counted.leaves)
}
