package front

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// loop waits for all clients at once, so that what several of them
// sent can be executed together: a round. A goroutine for each connection would be woken
// up for each command, which costs more than the command itself.
//
// Its workers take turns: one waits, reads what has come and plans it; while it executes
// the round the next one waits. There are as many as there are rounds at a time, so
// that a round which the cluster does not answer keeps nobody else waiting. Only when very many
// operations are under way does the loop read nothing more until some are answered (see gate).
//
// Whatever takes time for one client alone (a command of the proxy that asks the nodes, a
// client that does not take its replies, more commands than fit in a round, the end
// of the connection) is done in a goroutine of its own, Conn.serve, after which the
// connection comes back to the loop.
type loop struct {
	server          *Server
	begin           sync.Once
	ended           sync.Once
	poller          *poller // nil where there is none
	stopped         chan struct{}
	gate            *gate
	workers         sync.WaitGroup
	idle            atomic.Int32 // workers that wait
	begun, sweeping atomic.Bool  // it has begun; somebody looks after idle connections

	turn     sync.Mutex // belongs to the worker that waits for clients, with what follows
	arrivals []arrival
	ready    []*Conn // those of arrivals,
	taken    int     // of which so many are part of a round
}

// spareWorkers is how many workers wait at most. One that ends takes its stack and the
// buffers of its round along, which the next one has to grow anew: that is for when the cluster
// has been slow.
const spareWorkers = 32

// adopt takes a connection over: from then on the loop serves it. It reports false if it
// cannot, and the connection must be served in a goroutine.
func (l *loop) adopt(c *Conn) bool {
	socket := newSocket(c.stream.Conn)
	if socket == nil {
		return false
	}
	l.begin.Do(l.start)
	if l.poller == nil || l.poller.watch(socket, c.id) != nil {
		return false
	}
	c.stream.socket = socket
	if c.stream.tls != nil { // commands may have come with the end of the handshake, of which the socket does not tell
		c.detach()
		return true
	}
	c.release()
	return true
}

func (l *loop) start() {
	poller, err := newPoller()
	if err != nil {
		return
	}
	l.poller, l.stopped = poller, make(chan struct{})
	l.workers.Go(l.work)
	l.begun.Store(true)
	if l.server.Config().IdleTimeout > 0 {
		l.watchIdle()
	}
}

// watchIdle begins to look after connections that are idle, unless that was done. Before the loop has begun there are none; it does so then.
func (l *loop) watchIdle() {
	if l.begun.Load() && l.sweeping.CompareAndSwap(false, true) {
		l.workers.Go(l.sweep)
	}
}

// close ends the workers, once there are no more connections and the goroutines that served
// some have ended.
func (l *loop) close() {
	l.ended.Do(func() {
		l.begin.Do(func() {}) // if it has not begun it never will
		if l.poller == nil {
			return
		}
		close(l.stopped)
		l.poller.stop()
		l.workers.Wait()
		l.poller.close()
	})
}

// work is what a worker does.
func (l *loop) work() {
	r := newRound(l.server)
	for l.gather(r) {
		r.execute()
		if l.idle.Load() >= spareWorkers {
			return
		}
	}
}

// gather waits for its turn, and then for clients, until there is something to
// execute. It reports false at the end. Somebody waits after it.
func (l *loop) gather(r *round) bool {
	l.idle.Add(1)
	l.turn.Lock()
	defer l.turn.Unlock()
	for r.empty() {
		if l.taken == len(l.ready) && !l.await() {
			return false
		}
		l.gate.wait()
		now := time.Now()
		for ; l.taken < len(l.ready) && !r.full(); l.taken++ {
			r.take(l.ready[l.taken], now)
		}
		l.gate.begin(&r.pass, len(r.batch.Ops), now)
	}
	if l.idle.Add(-1) == 0 {
		l.workers.Go(l.work)
	}
	return true
}

// await waits until clients have sent something and takes over their connections, as
// far as they have no owner.
func (l *loop) await() bool {
	// Who is about to answer a client goes first: it may ask again at once, and is part of this round.
	runtime.Gosched()
	var err error
	if l.arrivals, err = l.poller.wait(l.arrivals[:0]); err != nil {
		select {
		case <-l.stopped:
		default:
			l.server.fail(fmt.Errorf("proxy: clients cannot be waited for any more: %w", err))
		}
		return false
	}
	clear(l.ready) // connections that have ended are not kept
	l.ready, l.taken = l.ready[:0], 0
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	for _, a := range l.arrivals {
		if c := l.server.conns[a.id]; c != nil && c.claim() {
			c.stream.socket.ending = c.stream.socket.ending || a.ending
			l.ready = append(l.ready, c)
		}
	}
	return true
}

// sweep ends connections that were idle for too long.
func (l *loop) sweep() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-l.stopped:
			return
		case <-timer.C:
		}
		limit := l.server.settings.Load().IdleTimeout
		if limit <= 0 { // it has been changed
			timer.Reset(time.Second)
			continue
		}
		timer.Reset(min(max(limit/8, time.Millisecond), time.Second))
		for _, c := range l.server.Conns() {
			c.expire(limit)
		}
	}
}
