package exec

import (
	"errors"

	"github.com/quolldb/quoll/internal/command"
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
	known := command.ByOp(op.Req.Op)
	reads := known != nil && known.Route == command.RouteRead
	grows := known != nil && known.Flags&command.FlagDenyOOM != 0
	if reason := e.host.Refusal(sl, reads, grows); reason != register.ReasonNone {
		refuse(c, op, reason)
		return
	}
	if reads {
		e.opt.Metrics.HomeReads.Inc()
	} else {
		e.opt.Metrics.Writes.Inc()
	}
	r := s.requests[i].Set(&op.Req, c, op.ID, c.Round().Mono())
	s.requests[i] = nil
	st.Give(op.Slot, sl, r, op.Except)
}
