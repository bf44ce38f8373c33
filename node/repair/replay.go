package repair

import (
	"context"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/hint"
)

// While a peer is away the node notes which keys it misses of the slots that are led here (package hint). When the peer is
// back its versions of these keys are asked for, and homes write again those that differ. Comparing everything, which
// finds what hints miss, comes after that.

const (
	// replayKeys is how many hints are taken at a time, and replayTries how often they are
	// looked at.
	replayKeys  = 1000
	replayTries = 5
)

// replay lets homes write what peers have missed that are back. A restarted node waits until it is back itself, and
// calls Soon then: hints that cannot be written are spent.
func (r *Repairer) replay(ctx context.Context) {
	if table, _ := r.node.Ring(); table == nil || !r.node.Back() || r.opt.Rate < 0 {
		return
	}
	if r.acquire(ctx) != nil {
		return
	}
	defer r.release()
	for _, p := range r.node.Peers() {
		if set := p.Hints(); set != nil {
			r.replayTo(ctx, p, set)
		}
	}
}

// replayTo goes on until there is nothing left, or the peer goes away again.
func (r *Repairer) replayTo(ctx context.Context, p Peer, set *hint.Set) {
	before := r.total.Keys.Load()
	defer func() {
		if keys := r.total.Keys.Load() - before; keys > 0 {
			r.log.Info("keys were written again that a replica was known to have missed", "peer", p.Name(), "keys", keys)
		}
	}()
	for ctx.Err() == nil && takesWrites(p) && set.Counts() != (hint.Counts{}) {
		table, self := r.node.Ring()
		if table == nil {
			return
		}
		batch := set.Take(replayKeys)
		if taken := len(batch.Hints); taken > 0 {
			batch.Hints = slices.DeleteFunc(slices.Clone(batch.Hints), func(h hint.Hint) bool { return !table.Contains(h.Slot, p.ID()) })
			if len(batch.Hints) == 0 { // it does not hold any of these slots any more
				set.Done()
				continue
			}
		}
		done, err := r.replayBatch(ctx, batch, func() *comparison { return r.comparison(table, self, p, everything, &r.total) })
		switch {
		case done:
		case ctx.Err() != nil || !takesWrites(p) || len(batch.Hints) == 0:
			set.Requeue()
			return
		default: // one that cannot be read or written does not stop the others
			r.log.Debug("some keys that a peer missed could not be written again; their slots are compared", "peer", p.Name(), "err", err)
			for _, h := range batch.Hints {
				set.Mark(h.Slot)
			}
		}
		set.Done()
	}
}

// replayBatch lets homes write what was taken, and looks again whether the peer holds it: homes do
// not wait for all replicas.
func (r *Repairer) replayBatch(ctx context.Context, batch hint.Batch, begin func() *comparison) (done bool, err error) {
	for try := range replayTries {
		c := begin()
		c.settling = min(c.settling, time.Second)
		if try > 1 && !clock.Sleep(ctx, c.settling) {
			return false, ctx.Err()
		}
		if err := c.replay(ctx, batch); err != nil {
			return false, err
		}
		done, failed := c.writes.done.Load(), c.writes.failed.Load()
		if failed > 0 && len(batch.Hints) > 0 {
			return false, nil
		}
		if done+failed == 0 {
			return true, nil
		}
	}
	return len(batch.Hints) == 0, nil // what is left of marked slots is up to the comparisons of everything
}

// replay lets homes write what was taken of a peer's hints, and compares the marked slots.
func (c *comparison) replay(ctx context.Context, batch hint.Batch) error {
	if len(batch.Hints) == 0 {
		c.only = batch.Marks
		return c.run(ctx)
	}
	// The home that noted a hint may have been restarted since, and lead nothing yet. It takes the
	// slot, unless somebody else leads it.
	c.noted = true
	keys := make([]protocol.SlotKey, len(batch.Hints))
	for i, h := range batch.Hints {
		keys[i] = protocol.SlotKey{Slot: h.Slot, Key: h.Key}
	}
	theirs, err := askVersions(ctx, c.peer, c.table.Version(), keys)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if err := c.rewrite(ctx, suspect{SlotKey: key, theirs: theirs[i]}); err != nil {
			return err
		}
	}
	return c.pause(ctx)
}
