package exec

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// Batch executes a frame of operations of a proxy, in groups, in a round of the connection. An error means that the frame makes no sense.
func (e *Executor) Batch(c *replica.Conn, s *Session, body []byte, age time.Duration) error {
	d := wire.NewDecoder(body)
	version := d.Uvarint()
	if refusal := e.refusal(version, age); refusal != register.ReasonNone {
		return refuseAll(c, &d, refusal)
	}
	c.Begin(e.host)
	for d.More() {
		if s.group.Len() == 0 {
			e.awaitRoom(c)
		}
		op := &s.ops[s.group.Len()]
		protocol.DecodeOp(&d, op)
		if d.Err() != nil {
			break
		}
		if s.group.Add(op.Slot, op.Key(), useOf(op.Kind), op.Kind == protocol.Execute) || !d.More() {
			e.executeGroup(c, s, version)
			c.Goes()
		}
	}
	if s.group.Len() > 0 { // the frame ended in the middle of an operation
		e.executeGroup(c, s, version)
	}
	return d.Err()
}

// useOf says what an operation will do with its key in the engine.
func useOf(kind protocol.OpKind) engine.Use {
	switch kind {
	case protocol.ReadVersion:
		return engine.UseRecord
	case protocol.Execute:
		return engine.UseWrite
	}
	return engine.UseValue
}

// executeGroup executes the operations that have been gathered, of a proxy that knows a version of the ring.
func (e *Executor) executeGroup(c *replica.Conn, s *Session, version uint64) {
	v := e.host.View()
	s.room = c.Room()
	e.host.LockGroup(&s.group, c.Round())
	defer e.host.UnlockGroup(&s.group)
	s.reserve()
	e.host.PrefetchKeys(&s.group)
	for i := range s.group.Len() {
		op := &s.ops[i]
		switch {
		case op.Slot < ring.Slots && !v.Knows(version, op.Slot):
			e.opt.Metrics.RefusedEpoch.Inc()
			refuse(c, op, register.EpochChanged)
		case op.Kind == protocol.Execute:
			e.execute(c, s, i)
		default:
			e.read(c, s, op, v)
		}
		// The arguments are views of the frame: they would keep a large one alive.
		if clear(op.Req.Args); cap(op.Req.Args) > keptArgs {
			op.Req.Args = nil
		}
	}
}

// reserve sees to it that there are requests for what homes of the group will execute.
func (s *Session) reserve() {
	for i, home := range s.group.Homes() {
		if home && s.requests[i] == nil {
			s.requests[i] = register.Reserve()
		}
	}
}

// keptArgs is for how many arguments of an operation room is kept.
const keptArgs = 64
