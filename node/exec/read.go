package exec

import (
	"errors"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
)

// read answers a quorum read with what this replica holds. The slot's stripe is
// locked.
func (e *Executor) read(c *replica.Conn, s *Session, op *protocol.Op, v *replica.View) {
	rec, sure, reason := e.readRecord(op, v)
	if reason != register.ReasonNone {
		refuse(c, op, reason)
		return
	}
	result := protocol.Result{ID: op.ID, Status: protocol.StatusVersion, Version: rec.Version}
	if !sure || !v.Placements.Admits(op.Key()) { // the home says why
		result.Status = protocol.StatusAskHome
		c.Round().Result(c, &result)
		return
	}
	if e.host.Tracks() && !op.About && !command.Untouching(op.Req.Op) {
		e.host.Use(op.Slot, op.Key())
	}
	if op.Kind == protocol.ReadVersion {
		e.opt.Metrics.Versions.Inc()
		c.Round().Result(c, &result)
		return
	}
	if s.room <= 0 {
		e.opt.Metrics.RefusedBusy.Inc()
		refuse(c, op, register.Overloaded)
		return
	}
	e.opt.Metrics.Reads.Inc()
	now := c.Round().Now()
	if rec.State.Live() && rec.State.Expired(now) { // only the home may say nil, after a write (R12)
		result.Status = protocol.StatusAskHome
		c.Round().Result(c, &result)
		return
	}
	if !rec.State.Live() && e.host.Wanted()&notify.Missed != 0 && datatype.Misses(&op.Req) { // which the home tells, once
		result.Status = protocol.StatusAskHome
		c.Round().Result(c, &result)
		return
	}
	if op.Req.Op == command.OpGet && rec.State.Object == nil && len(rec.State.Value) >= longValue {
		result.Status = protocol.StatusValue
		e.readLong(c, s, op, &result, &rec.State, now)
		return
	}
	if s.Pieces && datatype.Lengthy(&rec.State, &op.Req) {
		if !e.readLengthy(c, s, op, &rec) {
			e.opt.Metrics.RefusedBusy.Inc()
			refuse(c, op, register.Overloaded)
		}
		return
	}
	if err := e.answer(s, &rec.State, op, now); err != nil {
		st := e.host.Stripe(op.Slot)
		if sl, known := st.Slot(op.Slot); known == nil {
			st.Fail(op.Slot, sl, err)
		}
		refuse(c, op, register.StorageFailed)
		return
	}
	s.room -= len(s.reply)
	result.Status, result.Reply = protocol.StatusValue, s.reply
	c.Round().Result(c, &result)
	if cap(s.reply) > replica.MaxKept {
		s.reply = nil
	}
}

// longValue is the length in bytes from which it shows that a value is copied once less. (With 16 and 64 KiB it did not: these copies stay near.)
const longValue = 128 << 10

// readLong answers a GET of a long value, which is copied once: into the frame that leaves.
func (e *Executor) readLong(c *replica.Conn, s *Session, op *protocol.Op, result *protocol.Result, st *record.State, now int64) {
	e.host.Lend(&op.Req)
	s.room -= c.Round().ResultOf(c, result, len(st.Value), func(dst []byte) []byte {
		dst, _ = datatype.Execute(dst, *st, &op.Req, now)
		return dst
	})
}

// answer executes a read on a state. An error is one of the store, which cannot read all of the state that the command needs.
func (e *Executor) answer(s *Session, st *record.State, op *protocol.Op, now int64) (err error) {
	defer record.Catch(&err)
	e.host.Lend(&op.Req)
	s.reply, _ = datatype.Execute(s.reply[:0], *st, &op.Req, now)
	return nil
}

// readRecord returns what this replica holds of the key, or why it does not say so. The proxy knows who holds the slot in v. What is not sure
// counts for no agreement (R18), and neither does what a batch may have changed (B6): only the home may find out.
func (e *Executor) readRecord(op *protocol.Op, v *replica.View) (rec record.Record, sure bool, reason register.Reason) {
	st := e.host.Stripe(op.Slot)
	sl, err := st.Slot(op.Slot)
	if errors.Is(err, replica.ErrNotReplica) {
		return rec, false, register.NotMember
	}
	if errors.Is(err, register.ErrNoRoom) { // to begin in a slot
		return rec, false, register.StorageFull
	}
	if err != nil {
		return rec, false, register.StorageFailed
	}
	current, err := st.Adopt(sl, v.Table.Epoch(op.Slot))
	if err == nil && !current {
		return rec, false, register.EpochChanged
	}
	present, batched := false, false
	if err == nil { // before the record, which is borrowed
		batched, err = sl.Batched(op.Key())
	}
	if err == nil {
		rec, present, err = sl.Read(op.Key())
	}
	switch {
	case errors.Is(err, register.ErrNoRoom): // to adopt the epoch
		return record.Record{}, false, register.StorageFull
	case err != nil:
		st.Fail(op.Slot, sl, err)
		return record.Record{}, false, register.StorageFailed
	}
	return rec, !batched && (present || !sl.Meta().Unsure), register.ReasonNone
}
