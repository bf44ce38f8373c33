package front

import (
	"errors"
	"math"
	"time"

	"github.com/quolldb/quoll/proxy/route"
)

const (
	// roundOps is how many operations a round should have. More would be executed no faster
	// and make the first ones wait.
	roundOps = 256
	// partOps is how many operations of one client it should have at most: who has more gains
	// nothing by being executed with others, and would keep them waiting.
	partOps = 128
)

// round is what the clients of some connections have sent, executed as one batch with a
// part for each. It belongs to one worker, as the connections do until they are answered.
type round struct {
	server  *Server
	batch   *route.Batch
	members []*Conn // by part; nil once it is answered
	begun   time.Time
	pass    pass // at the loop's gate
}

func newRound(server *Server) *round {
	r := &round{server: server}
	r.reset()
	return r
}

// reset makes a new batch, for one that ended in a panic.
func (r *round) reset() {
	r.batch = &route.Batch{OnPart: r.answer}
	r.members = r.members[:0]
}

func (r *round) empty() bool { return len(r.members) == 0 }
func (r *round) full() bool  { return len(r.batch.Ops) >= roundOps }

// take reads what a client has sent and adds it to the round, if nothing about it is
// unusual.
func (r *round) take(c *Conn, now time.Time) {
	defer c.guard()
	if c.parked {
		c.settle()
		return
	}
	c.stream.nonblocking, c.stream.readable = true, true
	switch err := c.reader.ReadBatch(&c.input); {
	case errors.Is(err, errNotNow) && !c.stream.socket.drained: // a large command is coming
		c.next = c.input.Len()
		c.detach()
		return
	case err != nil:
		c.next = c.input.Len()
		c.received(err)
		c.settle()
		return
	}
	c.active.Store(now.UnixMilli())
	c.next = 0
	if !c.deliver() {
		c.detach()
		return
	}
	ops, all := c.session.Plan(partOps)
	switch {
	case !all:
		c.detach()
		return
	case len(ops) == 0:
		c.finish()
		c.settle()
		return
	}
	r.batch.Ops = append(r.batch.Ops, ops...)
	r.batch.EndPart()
	r.members = append(r.members, c)
}

// execute executes the round. Each connection is answered, and left, when its part is done.
func (r *round) execute() {
	defer func() {
		if cause := recover(); cause != nil {
			r.crashed(cause)
		}
	}()
	r.begun = time.Now()
	r.server.bulk.served.Add(1)
	r.server.cluster.Execute(r.batch)
	r.server.stats.observe(len(r.batch.Ops), time.Since(r.begun))
	for part := range r.members {
		r.answer(part)
	}
	r.members = r.members[:0]
	r.batch.Reset()
}

// answer sends a client its replies, unless that was done.
func (r *round) answer(part int) {
	c := r.members[part]
	if c == nil {
		return
	}
	r.members[part] = nil
	ops := r.batch.Part(part)
	r.server.loop.gate.end(&r.pass, len(ops))
	defer c.guard()
	c.session.Executed(ops, time.Since(r.begun))
	c.finish()
	c.settle()
}

// crashed ends the connections that wait for a round which ran into a bug.
func (r *round) crashed(cause any) {
	r.server.loop.gate.end(&r.pass, math.MaxInt)
	for _, c := range r.members {
		if c != nil {
			r.server.running.Go(func() { c.crashed(cause) })
		}
	}
	r.reset()
}

// settle leaves a connection that has been answered.
func (c *Conn) settle() {
	switch {
	case c.broken:
		c.end()
	case c.quit, !c.flushed():
		c.detach()
	case c.parked:
		if !c.rest() {
			c.detach()
		}
	case !c.release():
		c.detach()
	}
}

// guard ends a connection that ran into a bug in a round.
func (c *Conn) guard() {
	if cause := recover(); cause != nil {
		c.server.running.Go(func() { c.crashed(cause) })
	}
}
