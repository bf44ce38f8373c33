package front

import (
	"sync"
	"time"

	"github.com/quolldb/quoll/proxy/route"
)

// gate is the admission control of the proxy: it bounds how many operations of clients are under way in the cluster at a time. What comes
// beyond that is not read, or not executed: it waits for its turn where it is, in the clients' sockets
// at best, as with Redis. There it costs latency. In the nodes it would cost more: commands that only wait
// take memory on all replicas, are sent to them again as if they were lost, and run out of time.
//
// Operations that the cluster has not answered within the patience do not count any more: they
// wait for a node that hangs, maybe, and shall not keep those waiting that do not. As long as nodes
// say that they are behind, all count: more operations would only wait there.
type gate struct {
	limit    int
	patience time.Duration
	working  func() bool     // nodes say that they are behind
	done     <-chan struct{} // open to all from then on

	turn  sync.Mutex  // for enter
	timer *time.Timer // of who waits

	mu             sync.Mutex
	under          int   // operations under way that count
	oldest, newest *pass // those that have some
	waiting        bool
	room           chan struct{} // tells who waits
}

// gateOps is how many operations are under way before the next ones wait. Two thousand are enough for the full throughput
// of nodes on the same machine, and a network or disks that take a while need more. With this many the
// front has no more rounds than there are workers that stay; and nodes which execute 16,000 operations in a
// second answer within gatePatience, others later, but are not asked for much more than they can do.
const gateOps = spareWorkers * roundOps

// loadBytes is how many bytes of arguments count as one more operation: with large values the memory of all replicas is what
// must not run out.
const loadBytes = 8 << 10

// load returns for how many operations these count.
func load(ops []route.Op) int {
	n := len(ops)
	for i := range ops {
		bytes := 0
		for _, arg := range ops[i].Req.Args {
			bytes += len(arg)
		}
		n += bytes / loadBytes
	}
	return n
}

// gatePatience is how long operations count: half of the usual operation time-out.
const gatePatience = 500 * time.Millisecond

// pass stands for the operations of a batch, while they are under way.
type pass struct {
	ops           int // that count
	since         time.Time
	before, after *pass
}

func newGate(patience time.Duration, working func() bool, done <-chan struct{}) *gate {
	return &gate{limit: gateOps, patience: patience, working: working, done: done, room: make(chan struct{}, 1)}
}

// enter waits until there is room, and begins. Who comes first is first.
func (g *gate) enter(p *pass, ops int) {
	g.turn.Lock()
	defer g.turn.Unlock()
	g.wait()
	g.begin(p, ops, time.Now())
}

// wait waits until there is room. One goroutine at a time waits, and then begins what it has: that may be more
// than there is room for, so that nothing need be cut.
func (g *gate) wait() {
	for {
		left := g.look()
		if left <= 0 {
			return
		}
		if g.timer == nil {
			g.timer = time.NewTimer(left)
		} else {
			g.timer.Reset(left)
		}
		select {
		case <-g.room:
		case <-g.timer.C:
		case <-g.done:
			return
		}
	}
}

// look returns when to look again at the latest, 0 if there is room. Otherwise end tells of it.
func (g *gate) look() (left time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.under >= g.limit {
		if left = g.patience - time.Since(g.oldest.since); left > 0 {
			g.waiting = true
			return left
		}
		if g.working() {
			g.waiting = true
			return g.patience / 4
		}
		g.leave(g.oldest, g.oldest.ops)
	}
	g.waiting = false
	return 0
}

// begin counts the operations of a batch that begin now.
func (g *gate) begin(p *pass, ops int, now time.Time) {
	if ops == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p.ops, p.since = ops, now
	g.under += ops
	if p.before = g.newest; p.before == nil {
		g.oldest = p
	} else {
		p.before.after = p
	}
	g.newest = p
}

// end says that so many operations of a batch, or all of them if they were not as many, have been answered.
func (g *gate) end(p *pass, ops int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(p, ops)
	if !g.waiting || g.under >= g.limit {
		return
	}
	g.waiting = false
	select {
	case g.room <- struct{}{}:
	default:
	}
}

// leave stops counting operations.
func (g *gate) leave(p *pass, ops int) {
	if p.ops == 0 { // they took too long
		return
	}
	ops = min(ops, p.ops)
	g.under -= ops
	if p.ops -= ops; p.ops > 0 {
		return
	}
	if p.before == nil {
		g.oldest = p.after
	} else {
		p.before.after = p.after
	}
	if p.after == nil {
		g.newest = p.before
	} else {
		p.after.before = p.before
	}
	p.before, p.after = nil, nil
}
