package front

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// serve serves the connection to its end, or until it can be left to the loop. It begins with
// what a round has left.
func (c *Conn) serve() {
	if c.dedicated.Load() {
		c.writing <- struct{}{}
		defer func() { <-c.writing }()
	}
	defer func() {
		if cause := recover(); cause != nil {
			c.crashed(cause)
		}
	}()
	c.stream.nonblocking, c.stream.congested = false, false
	c.deliver()
	if c.broken = c.broken || c.parked && c.ended(); !c.broken {
		c.run()
	}
	c.finish()
	for !c.quit && !c.broken {
		if c.parked {
			if c.rest() {
				return
			}
			if !c.broken {
				c.run()
			}
			c.finish()
			continue
		}
		err := c.read()
		if errors.Is(err, errNotNow) && c.release() {
			return
		}
		c.received(err)
	}
	c.end()
}

// dedicate says that the connection is served by a goroutine, from its beginning to its end.
func (c *Conn) dedicate() {
	c.writing, c.bell = make(chan struct{}, 1), make(chan struct{}, 1)
	c.dedicated.Store(true)
}

// read reads what the client has sent. If that means to wait for the client others may write meanwhile: see speak.
func (c *Conn) read() error {
	if !c.dedicated.Load() {
		return c.server.bulk.read(c)
	}
	<-c.writing
	defer func() { c.writing <- struct{}{} }()
	return c.reader.ReadBatch(&c.input)
}

// speak writes what was pushed to a client whose own goroutine waits for it to send something.
func (c *Conn) speak() {
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	c.outbox.answered()
	if c.finish(); c.broken {
		c.stream.Close() // the goroutine ends the connection
	}
}

// received answers what one read delivered, with one write.
func (c *Conn) received(err error) {
	switch {
	case err == nil:
		c.next = 0
		c.active.Store(time.Now().UnixMilli())
		c.deliver()
		c.run()
	case !errors.Is(err, errNotNow):
		c.readFailed(err)
	}
	c.finish()
}

// readFailed decides how the connection ends when nothing more can be read.
func (c *Conn) readFailed(err error) {
	var violation *resp.ProtocolError
	switch {
	case errors.As(err, &violation):
		c.session.Reject(err)
		c.quit = true
	case c.server.closing.Load():
		c.quit = true
	default: // The client is gone, or was idle for too long.
		c.broken = true
	}
}

// end closes the connection, after what waits for the client was sent.
func (c *Conn) end() {
	defer c.server.leave(c)
	defer c.stream.Close()
	if c.stream.slow {
		c.server.stats.SlowReaders.Add(1)
	}
	if !c.broken {
		c.stream.linger()
	}
}

// crashed ends a connection that ran into a bug. The others go on.
func (c *Conn) crashed(cause any) {
	defer c.server.leave(c)
	defer c.stream.Close()
	c.server.stats.Panics.Add(1)
	c.server.cfg.Logger.Error("a bug in quoll ended a client's connection; please report it",
		"client", c.RemoteAddr(), "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
	c.stream.nonblocking, c.stream.congested = false, false
	c.session.Reject(errInternal)
	c.flush()
	c.stream.linger()
}

// portionOps is how many operations of one client are executed together at most.
const portionOps = gateOps / 2

// Execute executes a batch when there is room for it, and returns how long that took. One of very many operations is
// executed in portions, one after the other: all at once would keep the nodes from everybody else, and take longer than an
// operation may.
//
// It is called between replies: what was pushed to the client until then is sent before.
func (c *Conn) Execute(b *route.Batch) (took time.Duration) {
	c.deliver()
	if len(b.Ops) <= portionOps {
		took = c.executePortion(b)
	} else {
		for portion := range slices.Chunk(b.Ops, portionOps) {
			took += c.executePortion(&route.Batch{Ops: portion})
		}
	}
	c.server.stats.observe(len(b.Ops), took)
	return took
}

func (c *Conn) executePortion(b *route.Batch) time.Duration {
	gate := c.server.gate
	gate.enter(&c.pass, load(b.Ops))
	defer gate.end(&c.pass, math.MaxInt)
	start := time.Now()
	c.server.cluster.Execute(b)
	return time.Since(start)
}
