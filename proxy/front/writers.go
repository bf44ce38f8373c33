package front

import (
	"runtime"
	"slices"
	"sync"
)

// writers write what was pushed to clients that nobody serves at the moment. They are few, run while there is something to write, and never wait for a
// client: one that does not take what it is sent gets a goroutine until it does. Who pushes to thousands of clients writes to none of them itself, and
// messages that are pushed one after the other leave with one system call.
type writers struct {
	server *Server

	mu      sync.Mutex
	calls   []*Conn // each at most once: see outbox.called
	running int
}

// call has a writer look after the connection, which is one of the server's until its outbox is closed.
func (w *writers) call(c *Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	if w.running < max(1, runtime.GOMAXPROCS(0)/2) { // others want to be served too
		w.running++
		w.server.running.Go(w.run)
	}
}

// run looks after the connections for which writers are called until there are none.
func (w *writers) run() {
	var batch []*Conn
	for batch = w.take(batch); len(batch) > 0; batch = w.take(batch) {
		for _, c := range batch {
			c.called()
		}
	}
}

// take returns the next connections, in the memory of the last ones: as many as are a writer's part. If there are none the writer has ended.
func (w *writers) take(batch []*Conn) []*Conn {
	clear(batch) // connections that have ended are not kept
	w.mu.Lock()
	defer w.mu.Unlock()
	n := (len(w.calls) + w.running - 1) / w.running
	batch = append(batch[:0], w.calls[:n]...)
	if w.calls = slices.Delete(w.calls, 0, n); n == 0 {
		w.running--
		w.calls = nil
	}
	return batch
}

// called writes what was pushed to a connection, unless its owner will do that: it looks when it is done.
func (c *Conn) called() {
	if c.dedicated.Load() {
		c.server.running.Go(c.speak)
		return
	}
	c.outbox.answered()
	if c.owned.CompareAndSwap(unowned, owned) {
		defer c.guard()
		c.stream.nonblocking = true
		c.finish()
		c.settle()
	}
}
