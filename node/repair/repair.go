package repair

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/ring"
)

// DefaultRate is Options.Rate where nobody says otherwise.
const DefaultRate = 25 << 20

// answerTimeout is how long a peer may not answer that somebody waits for: links break and come back.
const answerTimeout = 3 * time.Second

// Options say how replicas are compared.
type Options struct {
	// Name is the node's.
	Name string
	// Interval is the time between two comparisons of everything; negative: nothing is compared unless somebody asks for it.
	Interval time.Duration
	// Rate bounds the bytes of keys and values that are written again in a second; negative: the background only compares.
	Rate    int64
	Logger  *slog.Logger
	Metrics *metrics.Node
}

// Repairer compares a node's replicas with its peers', and lets homes write what somebody has missed.
type Repairer struct {
	node Node
	opt  Options
	log  *slog.Logger

	life    context.Context
	end     context.CancelFunc
	wait    sync.WaitGroup // for jobs and for counting
	wake    chan struct{}
	running chan struct{} // holds one while a comparison runs: one at a time
	jobs    jobs
	listed  atomic.Int64 // records, of both sides, whose versions were compared

	mu    sync.Mutex
	peers map[uint16]divergence // by member
	total Progress              // of all comparisons in the background, and what others have written
}

// New returns the Repairer of a node, for as long as ctx lives. Run runs it.
func New(ctx context.Context, node Node, opt Options) *Repairer {
	r := &Repairer{node: node, opt: opt, log: opt.Logger, wake: make(chan struct{}, 1), running: make(chan struct{}, 1),
		jobs: jobs{byID: map[uint64]*job{}}, peers: map[uint16]divergence{}}
	r.life, r.end = context.WithCancel(ctx)
	return r
}

// Close ends what is running, and keeps any more from being started. Run waits for it.
func (r *Repairer) Close() {
	r.jobs.close()
	r.end()
}

// settling is how long a difference has to last: a tenth of the time between two passes.
func (r *Repairer) settling() time.Duration {
	return max(r.opt.Interval/10, time.Millisecond)
}

// Soon makes the next pass begin soon, and hints be looked at now: a peer came back.
func (r *Repairer) Soon() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run compares everything, again and again, if that is wanted. It returns after Close, when all has ended that somebody
// has asked for.
func (r *Repairer) Run() {
	if r.opt.Interval > 0 {
		r.wait.Go(func() { r.recountAll(r.life) })
		r.compareAll(r.life)
	}
	<-r.life.Done()
	r.jobs.close()
	r.wait.Wait()
}

// compareAll compares everything, again and again, until ctx ends. A peer that comes back gets at once
// what it is known to have missed.
func (r *Repairer) compareAll(ctx context.Context) {
	for due := time.Now().Add(r.opt.Interval); ; {
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
			if r.opt.Rate < 0 { // paused
				request.DryRun, progress = true, new(Progress)
			}
			_ = r.Repair(ctx, request, progress) // of each peer it is known what failed
			due = time.Now().Add(r.opt.Interval)
		}
	}
}

var (
	errNoRing  = errors.New("node: no ring yet, or the store failed")
	errClosing = errors.New("the node is being stopped")
)

// acquire waits until no other comparison runs. The caller calls release.
func (r *Repairer) acquire(ctx context.Context) error {
	select {
	case r.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Repairer) release() { <-r.running }

// Repair compares what this node is responsible for with its peers' replicas, and lets homes
// write what somebody has missed. It waits until that is done, and for a comparison that runs
// already; progress can be read meanwhile. A peer that does not answer does not keep it from going
// on with the others; it is a *PeerError.
func (r *Repairer) Repair(ctx context.Context, request Request, progress *Progress) error {
	progress.Waiting.Store(true)
	if err := r.acquire(ctx); err != nil {
		return err
	}
	defer r.release()
	progress.Waiting.Store(false)
	table, self := r.node.Ring()
	if table == nil {
		return errNoRing
	}
	var errs []error
	for _, p := range r.node.Peers() {
		if request.Peer != "" && request.Peer != p.Name() {
			continue
		}
		err := r.compare(ctx, r.comparison(table, self, p, request, progress))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			errs = append(errs, &PeerError{Peer: p.Name(), Err: err})
		}
	}
	if request.Peer == "" && !request.DryRun && len(errs) == 0 {
		errs = append(errs, r.comparison(table, self, nil, request, progress).forget(ctx))
	}
	return errors.Join(errs...)
}

// comparison returns what compares with one peer, or with none.
func (r *Repairer) comparison(table *ring.Table, self uint16, p Peer, request Request, progress *Progress) *comparison {
	c := &comparison{repairer: r, node: r.node, table: table, self: self, peer: p, request: request, progress: progress, settling: r.settling(),
		rate: r.opt.Rate, missed: map[uint16]struct{}{}, tries: 1}
	c.answer = c.writes.answered
	if progress != &r.total { // the background comes again anyway
		c.tries = repairTries
	}
	if c.rate < 0 { // somebody wants it nevertheless
		c.rate = DefaultRate
	}
	return c
}

// compare compares with one peer.
func (r *Repairer) compare(ctx context.Context, c *comparison) error {
	p, progress := c.peer, c.progress
	if progress != &r.total { // somebody waits for it
		awaitAlive(ctx, p, answerTimeout)
	}
	if !p.Alive() {
		return errors.New(p.Unreachable())
	}
	keys, size, failed := progress.Keys.Load(), progress.Bytes.Load(), progress.Failed.Load()
	began := time.Now()
	err := c.run(ctx)
	if !c.request.DryRun {
		r.wrote(p, progress, progress.Keys.Load()-keys, progress.Bytes.Load()-size, progress.Failed.Load()-failed)
	}
	if c.request.whole() && ctx.Err() == nil {
		r.note(p, len(c.missed), err)
		if err == nil && len(c.missed) == 0 && c.unsure == 0 {
			r.complete(p, began)
		}
	}
	return err
}
