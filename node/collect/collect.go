package collect

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/ring/change"
)

const (
	// slotsAtOnce is how many slots are collected at the same time, each a page at a time. Where slots are small it is answers that are waited for, and not the rate.
	slotsAtOnce = 8
	// retryFirst is the time until a slot is tried again that could not go on, and retryMost what that grows to.
	retryFirst = 50 * time.Millisecond
	retryMost  = 2 * time.Second
	// handOver is how long a slot is joint at least if a member leads it that leaves: what that has in flight is resolved meanwhile, and the slot handed over. When the
	// slot has moved the outcome of such writes would be unknown.
	handOver = 500 * time.Millisecond
	// reportAgain is when a slot is reported once more that nobody seems to have heard of.
	reportAgain = 5 * time.Second
)

// Options say how slots are collected.
type Options struct {
	// Done is told of slots, each in the epoch in which it has been collected: all that R18 asks for is durable. It is told again as long as Update says that
	// they are waited for. It must not block.
	Done    func([]change.SlotEpoch)
	Logger  *slog.Logger
	Metrics *metrics.Node
}

// Collector collects slots for a node. Run runs it; its other methods may be called by any goroutine.
type Collector struct {
	node   Node
	opt    Options
	log    *slog.Logger
	wake   chan struct{}
	bucket bucket
	keys   atomic.Int64 // that were copied,
	again  atomic.Int64 // and that were written again

	mu        sync.Mutex
	runs      map[uint16]*run // of the slots that this node has to collect:
	open      schedule        // those that are to be worked at, but for those that are, and
	done      schedule        // those that are to be reported, for the first time or again
	running   int
	collected int
}

// New returns the Collector of a node.
func New(node Node, opt Options) *Collector {
	c := &Collector{node: node, opt: opt, log: opt.Logger, wake: make(chan struct{}, 1), runs: map[uint16]*run{}}
	c.bucket.set(DefaultRate, time.Now())
	return c
}

// Update says which slots this node has to collect from now on, in which epochs, and at how many bytes in a second, 0 for the default. What is not
// among them any more, or is in another epoch, ends at once.
func (c *Collector) Update(slots []change.SlotEpoch, rate int64) {
	c.bucket.set(cmp.Or(rate, DefaultRate), time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	now, wanted := time.Now(), make(map[uint16]uint64, len(slots))
	for _, s := range slots {
		wanted[s.Slot] = s.Epoch
	}
	for slot, r := range c.runs {
		if epoch, is := wanted[slot]; !is || epoch != r.epoch {
			r.end()
			delete(c.runs, slot)
		}
	}
	for slot, epoch := range wanted {
		if c.runs[slot] == nil {
			c.runs[slot] = newRun(c, slot, epoch, now)
			c.open.add(c.runs[slot])
		}
	}
	c.look()
}

// look has Run look at what there is to do.
func (c *Collector) look() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Soon has slots that could not go on tried again at once: a peer has come back.
func (c *Collector) Soon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open.now()
	c.done.now()
	c.look()
}

// Run collects what there is to collect, until ctx ends.
func (c *Collector) Run(ctx context.Context) {
	var wait sync.WaitGroup
	defer wait.Wait()
	for ctx.Err() == nil {
		c.report()
		r, due := c.next(time.Now())
		if r != nil {
			wait.Go(func() { c.work(ctx, r) })
			continue
		}
		var timer <-chan time.Time
		if !due.IsZero() {
			timer = time.After(time.Until(due))
		}
		select {
		case <-ctx.Done():
		case <-c.wake:
		case <-timer:
		}
	}
}

// next returns a slot that is to be worked at now, the one that has waited longest, or when there may be something to do, zero if nobody knows.
func (c *Collector) next(now time.Time) (r *run, due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	due = c.done.due()
	if c.running == slotsAtOnce {
		return nil, due
	}
	r = c.open.take(now)
	if r == nil {
		return nil, sooner(due, c.open.due())
	}
	c.running++
	return r, due
}

// work works at a slot until it is collected, or cannot go on.
func (c *Collector) work(ctx context.Context, r *run) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	err := r.collect(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.look()
	c.running--
	switch {
	case r.life.Err() != nil: // it is another one's slot by now
	case err == nil:
		r.done, r.err, r.notBefore = true, nil, time.Now()
		if at := r.since.Add(handOver); r.leaves && at.After(r.notBefore) {
			r.notBefore = at
		}
		c.done.add(r)
		c.collected++
		c.opt.Metrics.Collected.Inc()
	default:
		c.log.Debug("a slot cannot be collected yet", "slot", r.slot, "err", err)
		r.err, r.notBefore = err, time.Now().Add(min(retryFirst<<min(r.failures, 10), retryMost))
		r.failures++
		c.open.add(r)
	}
}

// report tells what has been collected.
func (c *Collector) report() {
	now := time.Now()
	c.mu.Lock()
	var done []change.SlotEpoch
	for r := c.done.take(now); r != nil; r = c.done.take(now) {
		done = append(done, change.SlotEpoch{Slot: r.slot, Epoch: r.epoch})
		r.notBefore = now.Add(reportAgain)
		c.done.add(r)
	}
	c.mu.Unlock()
	if len(done) > 0 {
		c.opt.Done(done)
	}
}

// Progress is how far a node is with what it collects.
type Progress struct {
	// Waiting slots have yet to be collected; Collected ones have been, since the node was started.
	Waiting, Collected int
	// Keys were copied, and Again written again by homes. Bytes were read for that, Rate of them in a second of late.
	Keys, Again, Bytes, Rate int64
	// Held is why a slot cannot go on, nil if none is held up.
	Held error
}

// Progress returns how far the node is.
func (c *Collector) Progress() Progress {
	p := Progress{Keys: c.keys.Load(), Again: c.again.Load()}
	p.Bytes, p.Rate = c.bucket.total(time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Collected = c.collected
	for _, r := range c.runs {
		if !r.done {
			p.Waiting++
			p.Held = cmp.Or(p.Held, r.err)
		}
	}
	return p
}
