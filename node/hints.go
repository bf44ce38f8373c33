package node

import (
	"context"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/hint"
)

// Hints: while a peer is away this node notes which keys it misses of the slots that are led here
// (stripe.Missed). When the peer is back its versions of these keys are asked for, and homes write again those
// that differ. Comparing everything, which finds what hints miss, comes after that.

const (
	// replayKeys is how many hints are taken at a time, and replayTries how often they are
	// looked at.
	replayKeys  = 1000
	replayTries = 5
)

// openHints opens what was noted of the other members of the ring. n.mu is locked, and
// no slot has been opened yet.
func (n *Node) openHints(v *view) {
	if n.opt.RepairInterval < 0 || n.opt.HintLimit < 0 { // without comparisons they would never be used
		return
	}
	sets := make([]*hint.Set, len(n.byID))
	for _, p := range n.peers {
		if m, ok := v.cluster.ByName(p.name); ok {
			sets[p.id] = hint.Open(hint.Options{Replica: p.name, Generation: m.Generation, Dir: n.opt.HintDir,
				Limit: n.opt.HintLimit, Logger: n.log.With("peer", p.name)})
		}
	}
	n.hints = sets
}

// closeHints ends their files. What is noted later is not kept.
func (n *Node) closeHints() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, set := range n.hints {
		if set == nil {
			continue
		}
		if err := set.Close(); err != nil {
			n.log.Warn("hints were not closed in order; comparing the replicas finds what they miss", "err", err)
		}
	}
}

// hintsOf returns what a member missed, nil if nothing is noted of it.
func (n *Node) hintsOf(member uint16) *hint.Set {
	if int(member) >= len(n.hints) {
		return nil
	}
	return n.hints[member]
}

// Hints returns how much is noted of what the other nodes missed, by their names. A node that
// is not part of a ring yet, or does not compare its replicas, notes nothing.
func (n *Node) Hints() map[string]hint.Counts {
	counts := map[string]hint.Counts{}
	if n.view.Load() == nil {
		return counts
	}
	for _, p := range n.peers {
		if set := n.hintsOf(p.id); set != nil {
			counts[p.name] = set.Counts()
		}
	}
	return counts
}

// replay lets homes write what peers have missed that are back. A restarted node waits until it is back itself, when
// lookAtReturn wakes it: until then its homes turn away whatever others may stand in for, and hints that cannot be
// written are spent.
func (r *repairer) replay(ctx context.Context) {
	v := r.node.view.Load()
	if v == nil || !r.node.returned.Load() || r.node.failed.Load() || r.node.opt.RepairRate < 0 {
		return
	}
	if r.acquire(ctx) != nil {
		return
	}
	defer r.release()
	for _, p := range r.node.peers {
		if set := r.node.hintsOf(p.id); set != nil {
			r.replayTo(ctx, v, p, set)
		}
	}
}

// replayTo goes on until there is nothing left, or the peer goes away again.
func (r *repairer) replayTo(ctx context.Context, v *view, p *peer, set *hint.Set) {
	before := r.total.Keys.Load()
	defer func() {
		if keys := r.total.Keys.Load() - before; keys > 0 {
			r.node.log.Info("keys were written again that a replica was known to have missed", "peer", p.name, "keys", keys)
		}
	}()
	for ctx.Err() == nil && p.takesWrites() && set.Counts() != (hint.Counts{}) {
		batch := set.Take(replayKeys)
		done, err := r.replayBatch(ctx, v, p, batch)
		switch {
		case done:
		case ctx.Err() != nil || !p.takesWrites() || len(batch.Hints) == 0:
			set.Requeue()
			return
		default: // one that cannot be read or written does not stop the others
			r.node.log.Debug("some keys that a peer missed could not be written again; their slots are compared", "peer", p.name, "err", err)
			for _, h := range batch.Hints {
				set.Mark(h.Slot)
			}
		}
		set.Done()
	}
}

// replayBatch lets homes write what was taken, and looks again whether the peer holds it: homes do
// not wait for all replicas.
func (r *repairer) replayBatch(ctx context.Context, v *view, p *peer, batch hint.Batch) (done bool, err error) {
	for try := range replayTries {
		c := r.comparison(v, p, everything, &r.total)
		c.settling = min(c.settling, time.Second)
		if try > 1 && !sleep(ctx, c.settling) {
			return false, ctx.Err()
		}
		if err := c.replay(ctx, batch); err != nil {
			return false, err
		}
		done, undone := c.chores.done.Load(), c.chores.undone.Load()
		if undone > 0 && len(batch.Hints) > 0 {
			return false, nil
		}
		if done+undone == 0 {
			return true, nil
		}
	}
	return len(batch.Hints) == 0, nil // what is left of marked slots is up to the comparisons of everything
}

// takesWrites reports whether it makes sense to let homes write what the peer missed.
func (p *peer) takesWrites() bool { return p.alive() && !p.crowded() }

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
	theirs, err := c.peer.versions(ctx, keys)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if err := c.rewrite(ctx, suspect{key, theirs[i]}); err != nil {
			return err
		}
	}
	return c.pause(ctx)
}
