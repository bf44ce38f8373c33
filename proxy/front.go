package proxy

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// front waits for the clients of all sessions at once, so that what several of them
// sent can be executed together: a round. A goroutine for each connection would be woken
// up for each command, which costs more than the command itself.
//
// Its workers take turns: one waits, reads what has come and plans it; while it executes
// the round the next one waits. There are as many as there are rounds at a time, so
// that a round which the cluster does not answer keeps nobody else waiting. Only when very many
// operations are under way does the front read nothing more until some are answered (see gate).
//
// Whatever takes time for one client alone (a command of the proxy that asks the nodes, a
// client that does not take its replies, more commands than fit in a round, the end
// of the connection) is done in a goroutine of its own, session.serve, after which the
// session comes back to the front.
type front struct {
	server  *Server
	begin   sync.Once
	ended   sync.Once
	poller  *poller // nil where there is none
	stopped chan struct{}
	gate    *gate
	workers sync.WaitGroup
	idle    atomic.Int32 // workers that wait

	turn     sync.Mutex // belongs to the worker that waits for clients, with what follows
	arrivals []arrival
	ready    []*session // those of arrivals,
	taken    int        // of which so many are part of a round
}

// spareWorkers is how many workers wait at most. One that ends takes its stack and the
// buffers of its round along, which the next one has to grow anew: that is for when the cluster
// has been slow.
const spareWorkers = 32

// adopt takes a session over: from then on the front serves it. It reports false if it
// cannot, and the session must be served in a goroutine.
func (f *front) adopt(s *session) bool {
	socket := newSocket(s.conn.Conn)
	if socket == nil {
		return false
	}
	f.begin.Do(f.start)
	if f.poller == nil || f.poller.watch(socket, s.id) != nil {
		return false
	}
	s.conn.socket = socket
	s.release()
	return true
}

func (f *front) start() {
	poller, err := newPoller()
	if err != nil {
		return
	}
	f.poller, f.stopped = poller, make(chan struct{})
	f.workers.Go(f.work)
	if f.server.cfg.IdleTimeout > 0 {
		f.workers.Go(f.sweep)
	}
}

// close ends the workers, once there are no more sessions and the goroutines that served
// some have ended.
func (f *front) close() {
	f.ended.Do(func() {
		f.begin.Do(func() {}) // if it has not begun it never will
		if f.poller == nil {
			return
		}
		close(f.stopped)
		f.poller.stop()
		f.workers.Wait()
		f.poller.close()
	})
}

// work is what a worker does.
func (f *front) work() {
	r := newRound(f.server)
	for f.gather(r) {
		r.execute()
		if f.idle.Load() >= spareWorkers {
			return
		}
	}
}

// gather waits for its turn, and then for clients, until there is something to
// execute. It reports false at the end. Somebody waits after it.
func (f *front) gather(r *round) bool {
	f.idle.Add(1)
	f.turn.Lock()
	defer f.turn.Unlock()
	for r.empty() {
		if f.taken == len(f.ready) && !f.await() {
			return false
		}
		f.gate.wait()
		now := time.Now()
		for ; f.taken < len(f.ready) && !r.full(); f.taken++ {
			r.take(f.ready[f.taken], now)
		}
		f.gate.begin(&r.pass, len(r.batch.Ops), now)
	}
	if f.idle.Add(-1) == 0 {
		f.workers.Go(f.work)
	}
	return true
}

// await waits until clients have sent something and takes over their sessions, as
// far as they have no owner.
func (f *front) await() bool {
	// Who is about to answer a client goes first: it may ask again at once, and is part of this round.
	runtime.Gosched()
	var err error
	if f.arrivals, err = f.poller.wait(f.arrivals[:0]); err != nil {
		select {
		case <-f.stopped:
		default:
			f.server.fail(fmt.Errorf("proxy: clients cannot be waited for any more: %w", err))
		}
		return false
	}
	clear(f.ready) // sessions that have ended are not kept
	f.ready, f.taken = f.ready[:0], 0
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	for _, a := range f.arrivals {
		if s := f.server.sessions[a.id]; s != nil && s.claim() {
			s.conn.socket.ending = s.conn.socket.ending || a.ending
			f.ready = append(f.ready, s)
		}
	}
	return true
}

// sweep ends sessions that were idle for too long.
func (f *front) sweep() {
	limit := f.server.cfg.IdleTimeout
	ticker := time.NewTicker(min(max(limit/8, time.Millisecond), time.Second))
	defer ticker.Stop()
	for {
		select {
		case <-f.stopped:
			return
		case <-ticker.C:
		}
		for _, s := range f.server.clients() {
			s.expire(limit)
		}
	}
}
