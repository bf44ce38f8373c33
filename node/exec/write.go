package exec

import (
	"errors"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
)

// execute runs an operation of the group as the slot's home. The slot's stripe is locked.
func (e *Executor) execute(c *replica.Conn, s *Session, i int) {
	op := &s.ops[i]
	if e.host.InFlight() > MaxInFlight || e.host.Pending() > e.opt.MaxPending {
		e.opt.Metrics.RefusedBusy.Inc()
		refuse(c, op, register.Overloaded)
		return
	}
	st := e.host.Stripe(op.Slot)
	sl, err := st.Slot(op.Slot)
	switch {
	case errors.Is(err, replica.ErrNotReplica):
		refuse(c, op, register.NotMember)
		return
	case errors.Is(err, register.ErrNoRoom): // to begin in a slot
		refuse(c, op, register.StorageFull)
		return
	case err != nil:
		refuse(c, op, register.StorageFailed)
		return
	}
	var r *register.Request // a batch is copied first, for what it needs are parts of it
	var reads, grows bool
	events := e.host.Wanted()
	if op.Req.Op == command.OpBatch {
		r = s.take(i, c)
		r.Tell(events)
		if reads, grows, err = e.prepareBatch(r, func() bool { return e.host.Refusal(sl, false, true) == register.OutOfMemory }); err != nil {
			c.Round().Result(c, &protocol.Result{ID: op.ID, Status: protocol.StatusDone, Reply: resp.AppendError(nil, err.Error())})
			return
		}
	} else if known := command.ByOp(op.Req.Op); known != nil {
		reads, grows = known.Route == command.RouteRead, known.Flags&command.FlagDenyOOM != 0
	}
	reason := e.host.Refusal(sl, reads, grows)
	if reason == register.OutOfMemory && database.Own(op.Key()) { // to keep a script is no command that is refused then
		reason = e.host.Refusal(sl, reads, false)
	}
	if reason != register.ReasonNone {
		refuse(c, op, reason)
		return
	}
	if reads {
		e.opt.Metrics.HomeReads.Inc()
	} else {
		e.opt.Metrics.Writes.Inc()
	}
	if r == nil {
		r = s.take(i, c)
		if events != 0 {
			r.Tell(events)
		}
	}
	st.Give(op.Slot, sl, r, op.Except)
}

// take returns the request that is reserved for an operation of the group, with a copy of its command.
func (s *Session) take(i int, c *replica.Conn) *register.Request {
	r := s.requests[i].Set(&s.ops[i].Req, c, s.ops[i].ID, c.Round().Mono())
	s.requests[i] = nil
	r.Command().Versioned, r.Command().Version = s.ops[i].Req.Versioned, record.Version{}
	return r
}
