package exec

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
)

// refusal says why no operation of a frame is executed. The proxy knows a version of the ring: if that is above the one that this node
// knows, nobody can say which slots have changed since.
func (e *Executor) refusal(version uint64, age time.Duration) register.Reason {
	v := e.host.View()
	switch {
	case v == nil || e.host.Failed():
		e.opt.Metrics.RefusedNoVote.Inc()
		return register.NotVoting
	case version > v.Table.Version():
		e.host.Later(0, version)
		e.opt.Metrics.RefusedEpoch.Inc()
		return register.EpochChanged
	case e.overdue(age): // the process was stopped; nobody waits for these any more
		e.opt.Metrics.RefusedBusy.Inc()
		return register.Expired
	}
	return register.ReasonNone
}

// refuseAll refuses every operation of a frame. It shows nothing of the store, so it
// waits for no commit, and is heard when there will be none any more.
func refuseAll(c *replica.Conn, d *wire.Decoder, reason register.Reason) error {
	frame := wire.BeginFrame(nil, protocol.FrameBatchReply)
	var op protocol.Op
	for d.More() {
		if protocol.DecodeOp(d, &op); d.Err() != nil {
			break
		}
		frame = protocol.AppendResult(frame, &protocol.Result{ID: op.ID, Status: protocol.StatusNotDone, Reason: reason})
	}
	_ = c.SendFrames(wire.EndFrame(frame, 0)) // a lost connection is Closed's business
	return d.Err()
}

// refuse refuses one operation.
func refuse(c *replica.Conn, op *protocol.Op, reason register.Reason) {
	c.Round().Result(c, &protocol.Result{ID: op.ID, Status: protocol.StatusNotDone, Reason: reason})
}

// overdue reports whether nobody waits any more for what has been under way for so long. As long as this process runs
// proxies hear that it is behind, and wait; they have given up on what came while it was stopped.
func (e *Executor) overdue(age time.Duration) bool {
	return age > e.opt.OperationTimeout && (age > e.opt.SlowTimeout || age > e.opt.Awake())
}
