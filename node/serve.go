package node

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// session is a connection from a proxy, a node or a tool (wire.ServerConn.Data). It
// belongs to the goroutine that reads the connection.
type session struct {
	hello protocol.Properties
	role  wire.Role
	out   *outbox
	op    protocol.Op
	reply []byte
}

// Open implements wire.Handler.
func (n *Node) Open(c *wire.ServerConn, peer wire.Hello) {
	props, _ := protocol.DecodeProperties(peer) // accept has checked it
	c.Data = &session{hello: props, role: peer.Role}
}

// Closed implements wire.Handler.
func (n *Node) Closed(*wire.ServerConn, error) {}

// Idle implements wire.Handler.
func (n *Node) Idle(c *wire.ServerConn) {
	if s := c.Data.(*session); s.out != nil {
		out := s.out
		s.out = nil
		out.flush()
	}
}

// Frame implements wire.Handler.
func (n *Node) Frame(c *wire.ServerConn, typ wire.FrameType, body []byte, age time.Duration) {
	s := c.Data.(*session)
	n.Metrics.FramesIn.Inc()
	n.Metrics.BytesIn.Add(uint64(len(body)))
	if typ == protocol.FrameCall {
		n.call(c, s, body)
		return
	}
	if s.out == nil {
		s.out = n.getOutbox()
	}
	var err error
	switch typ {
	case protocol.FrameBatch:
		err = n.batch(c, s, body, age)
	case protocol.FrameReplicate:
		err = n.replicate(c, s, body)
	default:
		err = errFrameType
	}
	if err != nil {
		n.log.Warn("a peer sent a frame that makes no sense; closing its connection", "peer", c.RemoteAddr().String(), "err", err)
		c.Close()
	}
}

// batch executes the operations of a proxy.
func (n *Node) batch(c *wire.ServerConn, s *session, body []byte, age time.Duration) error {
	d := wire.NewDecoder(body)
	epoch := d.Uvarint()
	refusal := n.refusal(epoch, age)
	for d.More() {
		protocol.DecodeOp(&d, &s.op)
		if d.Err() != nil {
			break
		}
		switch {
		case refusal != register.ReasonNone:
			s.refuse(c, refusal)
		case s.op.Kind == protocol.Execute:
			n.execute(c, s)
		default:
			n.read(c, s, epoch)
		}
	}
	return d.Err()
}

// refusal says why no operation of a frame is executed.
func (n *Node) refusal(epoch uint64, age time.Duration) register.Reason {
	v := n.view.Load()
	switch {
	case v == nil || n.failed.Load():
		n.Metrics.RefusedNoVote.Inc()
		return register.NotVoting
	case epoch != v.cluster.Epoch:
		n.Metrics.RefusedEpoch.Inc()
		return register.EpochChanged
	case age > n.opt.OperationTimeout: // the process was stopped; nobody waits for these any more
		n.Metrics.RefusedBusy.Inc()
		return register.Expired
	}
	return register.ReasonNone
}

func (s *session) refuse(c *wire.ServerConn, reason register.Reason) {
	s.out.result(c, &protocol.Result{ID: s.op.ID, Status: protocol.StatusNotDone, Reason: uint8(reason)})
}

// maxInFlight bounds the requests that a node works on.
const maxInFlight = 1 << 18

// execute runs an operation as the slot's home.
func (n *Node) execute(c *wire.ServerConn, s *session) {
	if n.inFlight.Load() > maxInFlight || n.pending.Load() > n.opt.MaxPending {
		n.Metrics.RefusedBusy.Inc()
		s.refuse(c, register.Overloaded)
		return
	}
	st := n.lock(s.op.Slot, s.out)
	defer st.unlock()
	sl, err := st.slot(s.op.Slot)
	switch {
	case err == errNotReplica:
		s.refuse(c, register.NotMember)
		return
	case err != nil:
		s.refuse(c, register.StorageFailed)
		return
	case !n.quorumReachable(sl.home.Config()):
		s.refuse(c, register.NoQuorum)
		return
	}
	n.Metrics.Writes.Inc()
	r := register.NewRequest(&s.op.Req, c, s.op.ID, s.out.mono)
	n.inFlight.Add(1)
	n.pending.Add(int64(r.Size()))
	sl.home.HandleClient(r, s.op.Force)
	st.touched(sl)
}

// quorumReachable reports whether a majority of the slot's replicas is connected.
func (n *Node) quorumReachable(config *register.Config) bool {
	members := config.Members()
	connected := 0
	for _, id := range members {
		if p := n.peerOf(id); p == nil || p.connected() { // nil: this node
			connected++
		}
	}
	return connected > len(members)/2
}

// read answers a quorum read with what this replica holds.
func (n *Node) read(c *wire.ServerConn, s *session, epoch uint64) {
	rec, reason := n.readRecord(s, epoch)
	if reason != register.ReasonNone {
		s.refuse(c, reason)
		return
	}
	result := protocol.Result{ID: s.op.ID, Status: protocol.StatusVersion, Version: rec.Version}
	if s.op.Kind == protocol.ReadVersion {
		n.Metrics.Versions.Inc()
		s.out.result(c, &result)
		return
	}
	n.Metrics.Reads.Inc()
	now := s.out.wall
	if rec.State.Live() && rec.State.Expired(now) { // only the home may say nil, after a write (R12)
		result.Status = protocol.StatusAskHome
		s.out.result(c, &result)
		return
	}
	s.reply, _ = datatype.Execute(s.reply[:0], rec.State, &s.op.Req, now)
	result.Status, result.Reply = protocol.StatusValue, s.reply
	s.out.result(c, &result)
	if cap(s.reply) > maxKept {
		s.reply = nil
	}
}

func (n *Node) readRecord(s *session, epoch uint64) (record.Record, register.Reason) {
	st := n.lock(s.op.Slot, s.out)
	defer st.unlock()
	sl, err := st.slot(s.op.Slot)
	if err == errNotReplica {
		return record.Record{}, register.NotMember
	}
	if err != nil {
		return record.Record{}, register.StorageFailed
	}
	current, err := sl.acceptor.Adopt(epoch)
	if err == nil && !current {
		return record.Record{}, register.EpochChanged
	}
	var rec record.Record
	if err == nil {
		rec, _, err = sl.acceptor.Read(s.op.Req.Args[1])
	}
	if err != nil {
		sl.err = err
		n.storageFailed(err)
		return record.Record{}, register.StorageFailed
	}
	return rec, register.ReasonNone
}

// replicate executes a home's requests on this node's replicas.
func (n *Node) replicate(c *wire.ServerConn, s *session, body []byte) error {
	v := n.view.Load()
	if v == nil || n.failed.Load() || s.role != wire.RoleNode || !v.sameLife(s.hello.Member) {
		n.Metrics.RefusedNoVote.Inc()
		return nil // a vote is never given to, nor by, a process that is not of the ring
	}
	d := wire.NewDecoder(body)
	var m, reply register.Message
	for d.More() {
		decodeRequest(&d, &m)
		if d.Err() != nil {
			break
		}
		m.From, m.To = s.hello.Member.ID, v.self
		st := n.lock(m.Slot, s.out)
		sl, err := st.slot(m.Slot)
		if err == nil {
			err = sl.acceptor.Handle(&m, &reply)
			if err != nil {
				sl.err = err
				n.storageFailed(err)
			}
		}
		st.unlock()
		if err != nil {
			continue // no answer: no vote
		}
		n.countReply(&reply)
		s.out.replicateReply(c, &reply)
	}
	return d.Err()
}

func (n *Node) countReply(reply *register.Message) {
	switch {
	case reply.Result == register.StaleEpoch:
		n.Metrics.RefusedEpoch.Inc()
	case reply.Result == register.StaleBallot:
		n.Metrics.RefusedBallot.Inc()
	case reply.Kind == register.Accept && reply.Result == register.OK:
		n.Metrics.Accepts.Inc()
	}
}

// handleReply hands a replica's reply to the home that asked.
func (n *Node) handleReply(out *outbox, m *register.Message) {
	st := n.lock(m.Slot, out)
	defer st.unlock()
	if m.Slot >= ring.Slots {
		return
	}
	if sl := st.slots[m.Slot/stripes]; sl != nil && sl.err == nil {
		sl.home.HandleReply(m)
		st.touched(sl)
	}
}
