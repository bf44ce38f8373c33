package node

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/ring"
)

// Anti-entropy: a replica that missed writes catches up without anybody reading them. Every
// node compares the slots that it is responsible for with those of its peers, first their digests,
// then the leaves of those that differ and are large (repair_leaves.go), then the versions of the keys that are
// left (repair_compare.go). What still differs a
// moment later was missed, and is not merely under way: the home writes the key's state once
// more, whoever has it (repair_settle.go). That is a write like any other, in the home's term, so there is
// nothing new to prove about it. All replicas hold one version when they have acknowledged it, and
// tombstones can be purged then (R13).

// RepairRequest says what to compare.
type RepairRequest struct {
	// First and Last are slots.
	First, Last uint16
	// Peer is the name of the only peer to compare with, empty for all.
	Peer string
	// DryRun: nothing is written.
	DryRun bool
}

// everything is what is compared all the time.
var everything = RepairRequest{Last: ring.Slots - 1}

// RepairProgress is what a comparison has done so far.
type RepairProgress struct {
	// Slots were compared (a slot counts once for each peer), of Total, and Differing of them
	// differed, in what was not merely under way.
	Slots, Total, Differing atomic.Int64
	// Unreadable slots were not compared: the data of one side is damaged.
	Unreadable atomic.Int64
	// Keys were written again, or would have been, with so many Bytes of keys and values. Failed of
	// them could not be: the home refused, or nobody knows.
	Keys, Bytes, Failed atomic.Int64
	// Waiting: another comparison has to end first.
	Waiting atomic.Bool
}

// repairer compares this node's replicas with its peers', and lets homes write what somebody
// has missed.
type repairer struct {
	node    *Node
	wake    chan struct{}
	running chan struct{} // holds one while a comparison runs: one at a time
	jobs    repairJobs
	listed  atomic.Int64 // records, of both sides, whose versions were compared

	mu    sync.Mutex
	peers map[uint16]divergence // by member
	total RepairProgress        // of all comparisons in the background, and what others have written
}

func newRepairer(n *Node) *repairer {
	return &repairer{node: n, wake: make(chan struct{}, 1), running: make(chan struct{}, 1),
		jobs: repairJobs{byID: map[uint64]*repairJob{}}, peers: map[uint16]divergence{}}
}

// settling is how long a difference has to last: a tenth of the time between two passes.
func (r *repairer) settling() time.Duration {
	return max(r.node.opt.RepairInterval/10, time.Millisecond)
}

// soon makes the next pass begin soon, and hints be looked at now: a peer came back.
func (r *repairer) soon() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run compares everything, again and again, until ctx ends. A peer that comes back gets at once
// what it is known to have missed.
func (r *repairer) run(ctx context.Context) {
	interval := r.node.opt.RepairInterval
	for due := time.Now().Add(interval); ; {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
			r.replay(ctx)
			if soon := time.Now().Add(r.settling()); soon.Before(due) { // others may come back with it
				due = soon
			}
		case <-time.After(time.Until(due)):
			r.replay(ctx)
			request, progress := everything, &r.total
			if r.node.opt.RepairRate < 0 { // paused
				request.DryRun, progress = true, new(RepairProgress)
			}
			_ = r.repair(ctx, request, progress) // of each peer it is known what failed
			due = time.Now().Add(interval)
		}
	}
}

// sleep reports false if ctx ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

var errNoRing = errors.New("node: no ring yet, or the store failed")

// Repair compares what this node is responsible for with its peers' replicas, and lets homes
// write what somebody has missed. It waits until that is done, and for a comparison that runs
// already; progress can be read meanwhile. A peer that does not answer does not keep it from going
// on with the others.
func (n *Node) Repair(ctx context.Context, request RepairRequest, progress *RepairProgress) error {
	return n.repairs.repair(ctx, request, progress)
}

// acquire waits until no other comparison runs. The caller calls release.
func (r *repairer) acquire(ctx context.Context) error {
	select {
	case r.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *repairer) release() { <-r.running }

func (r *repairer) repair(ctx context.Context, request RepairRequest, progress *RepairProgress) error {
	progress.Waiting.Store(true)
	if err := r.acquire(ctx); err != nil {
		return err
	}
	defer r.release()
	progress.Waiting.Store(false)
	v := r.node.view.Load()
	if v == nil || r.node.failed.Load() {
		return errNoRing
	}
	var errs []error
	for _, p := range r.node.peers {
		if request.Peer != "" && request.Peer != p.name {
			continue
		}
		err := r.compare(ctx, v, p, request, progress)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			errs = append(errs, &RepairError{Peer: p.name, Err: err})
		}
	}
	if request.Peer == "" && !request.DryRun && len(errs) == 0 {
		errs = append(errs, r.comparison(v, nil, request, progress).forget(ctx))
	}
	return errors.Join(errs...)
}

// comparison returns what compares with one peer, or with none.
func (r *repairer) comparison(v *view, p *peer, request RepairRequest, progress *RepairProgress) *comparison {
	c := &comparison{node: r.node, view: v, peer: p, request: request, progress: progress, settling: r.settling(),
		rate: r.node.opt.RepairRate, missed: map[uint16]struct{}{}, tries: 1}
	if progress != &r.total { // the background comes again anyway
		c.tries = repairTries
	}
	if c.rate < 0 { // somebody wants it nevertheless
		c.rate = defaultRepairRate
	}
	return c
}

// compare compares with one peer.
func (r *repairer) compare(ctx context.Context, v *view, p *peer, request RepairRequest, progress *RepairProgress) error {
	if progress != &r.total { // somebody waits for it
		p.awaitAlive(ctx, repairPatience)
	}
	if !p.alive() {
		return errors.New(p.unreachable())
	}
	c := r.comparison(v, p, request, progress)
	keys, size, failed := progress.Keys.Load(), progress.Bytes.Load(), progress.Failed.Load()
	err := c.run(ctx)
	if !request.DryRun {
		r.wrote(p, progress, progress.Keys.Load()-keys, progress.Bytes.Load()-size, progress.Failed.Load()-failed)
	}
	if request.whole() && ctx.Err() == nil {
		r.note(p, len(c.missed), err)
	}
	return err
}

// whole reports whether all slots are compared.
func (q RepairRequest) whole() bool { return q.First == everything.First && q.Last == everything.Last }

// RepairError says why a peer's replicas could not be compared to the end.
type RepairError struct {
	Peer string
	Err  error
}

// Error implements error.
func (e *RepairError) Error() string { return e.Peer + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *RepairError) Unwrap() error { return e.Err }
