package node

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/transfer"
)

// session is a connection from a proxy, a node or a tool (wire.ServerConn.Data). It
// belongs to the goroutine that reads the connection.
type session struct {
	hello protocol.Properties
	role  wire.Role
	out   *outbox
	reply []byte
	// Of a node: what comes of objects, and what goes.
	objects objects
	answers transfer.Answers

	// The group that is being executed.
	group    group
	room     int          // for replies, in bytes
	waiting  atomic.Int64 // bytes of replies that wait for a commit
	ops      [groupSize]protocol.Op
	requests [groupSize]*register.Request // reserved for them; what one group does not need is there for the next
	messages [groupSize]register.Message
	answer   register.Message
}

// member returns the ID of the member that is connected, 0 if it is no node or does not say which.
func (s *session) member() uint16 {
	if s.role != wire.RoleNode || s.hello.Member == nil {
		return 0
	}
	return s.hello.Member.ID
}

// Open implements wire.Handler.
func (n *Node) Open(c *wire.ServerConn, peer wire.Hello) {
	props, _ := protocol.DecodeProperties(peer) // accept has checked it
	c.Data = &session{hello: props, role: peer.Role, objects: n.newObjects()}
	n.conns.add(c, peer.Role)
	if peer.Role == wire.RoleNode {
		_ = c.SendFrames(clockFrame(n.system())) // before it is asked for anything
	}
	if n.failed.Load() && peer.Properties[toldOfFailure] == "" { // meanwhile
		c.Close()
	}
}

// Closed implements wire.Handler.
func (n *Node) Closed(c *wire.ServerConn, _ error) {
	n.Idle(c) // what it asked for is in flight, and others may wait for it
	c.Data.(*session).objects.incoming.Drop()
	n.conns.remove(c)
}

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
	switch typ {
	case protocol.FrameCall:
		n.call(c, s.role, body)
		return
	case protocol.FrameClock:
		if id := s.member(); id != 0 {
			n.heardClock(id, body, age)
		}
		return
	case protocol.FrameLeading:
		if id := s.member(); id != 0 {
			n.heardLeading(id, body)
		}
		return
	case protocol.FrameSlow:
		if id := s.member(); id != 0 {
			n.heardSlow(id)
		}
		return
	}
	if typ != protocol.FramePiece && s.out == nil {
		s.out = n.getOutbox()
	}
	var err error
	switch typ {
	case protocol.FramePiece:
		if s.role == wire.RoleNode {
			err = n.piece(&s.objects, body)
		}
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

// batch executes the operations of a proxy, in groups.
func (n *Node) batch(c *wire.ServerConn, s *session, body []byte, age time.Duration) error {
	d := wire.NewDecoder(body)
	epoch := d.Uvarint()
	if refusal := n.refusal(epoch, age); refusal != register.ReasonNone {
		return refuseAll(c, &d, refusal)
	}
	for d.More() {
		if s.group.n == 0 {
			n.awaitRoom(c, s)
		}
		op := &s.ops[s.group.n]
		protocol.DecodeOp(&d, op)
		if d.Err() != nil {
			break
		}
		if s.group.add(op.Slot, op.Key(), useOf(op.Kind), op.Kind == protocol.Execute) || !d.More() {
			n.executeGroup(c, s, epoch)
			c.Goes()
		}
	}
	if s.group.n > 0 { // the frame ended in the middle of an operation
		n.executeGroup(c, s, epoch)
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

func (n *Node) executeGroup(c *wire.ServerConn, s *session, epoch uint64) {
	s.room = maxReplies - c.Queued() - int(s.waiting.Load()) - s.out.queued(c)
	n.lockGroup(&s.group, s.out)
	defer n.unlockGroup(&s.group)
	s.reserve()
	n.prefetchKeys(&s.group)
	for i := range s.group.n {
		op := &s.ops[i]
		if op.Kind == protocol.Execute {
			n.execute(c, s, i)
		} else {
			n.read(c, s, op, epoch)
		}
		// The arguments are views of the frame: they would keep a large one alive.
		if clear(op.Req.Args); cap(op.Req.Args) > keptArgs {
			op.Req.Args = nil
		}
	}
}

// reserve sees to it that there are requests for what homes of the group will execute.
func (s *session) reserve() {
	for i, home := range s.group.homes[:s.group.n] {
		if home && s.requests[i] == nil {
			s.requests[i] = register.Reserve()
		}
	}
}

// maxReplies is how many bytes of replies may wait for one connection. Reads beyond that are refused: a
// request is small, and what it asks for may be a hundred megabytes.
const maxReplies = 32 << 20

// keptArgs is for how many arguments of an operation room is kept.
const keptArgs = 64

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
	case n.overdue(age): // the process was stopped; nobody waits for these any more
		n.Metrics.RefusedBusy.Inc()
		return register.Expired
	}
	return register.ReasonNone
}

// refuseAll refuses every operation of a frame. It shows nothing of the store, so it
// waits for no commit, and is heard when there will be none any more.
func refuseAll(c *wire.ServerConn, d *wire.Decoder, reason register.Reason) error {
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

func (s *session) refuse(c *wire.ServerConn, op *protocol.Op, reason register.Reason) {
	s.out.result(c, &protocol.Result{ID: op.ID, Status: protocol.StatusNotDone, Reason: reason})
}

// maxInFlight bounds the requests that a node works on.
const maxInFlight = 1 << 18

// execute runs an operation of the group as the slot's home. The slot's stripe is locked.
func (n *Node) execute(c *wire.ServerConn, s *session, i int) {
	op := &s.ops[i]
	if n.inFlight.Load() > maxInFlight || n.pending.Load() > n.opt.MaxPending {
		n.Metrics.RefusedBusy.Inc()
		s.refuse(c, op, register.Overloaded)
		return
	}
	st := &n.stripes[op.Slot%stripes]
	sl, err := st.slot(op.Slot)
	switch {
	case errors.Is(err, errNotReplica):
		s.refuse(c, op, register.NotMember)
		return
	case err != nil:
		s.refuse(c, op, register.StorageFailed)
		return
	}
	known := command.ByOp(op.Req.Op)
	reads := known != nil && known.Route == command.RouteRead
	grows := known != nil && known.Flags&command.FlagDenyOOM != 0
	if reason := n.quorum(sl, reads, grows); reason != register.ReasonNone {
		s.refuse(c, op, reason)
		return
	}
	if reads {
		n.Metrics.HomeReads.Inc()
	} else {
		n.Metrics.Writes.Inc()
	}
	r := s.requests[i].Set(&op.Req, c, op.ID, s.out.in.Mono)
	s.requests[i] = nil
	st.give(op.Slot, sl, r, op.Except)
}

// quorum says why no majority of the slot's replicas would answer to a request. Without one
// this node proposes nothing: what it sends could end as unknown, while another replica,
// which the proxy asks next, may well reach a majority. A replica without room answers to what a
// home asks that reads under its term. One that is crowded answers to everything, but is no good for what makes the data grow.
func (n *Node) quorum(sl *slot, reads, grows bool) register.Reason {
	if grows && n.crowded() {
		return register.StorageFull
	}
	members := sl.home.Config().Members()
	alive, roomy := 0, 0
	for _, id := range members {
		p := n.peerOf(id)
		if p != nil && !p.alive() { // nil: this node
			continue
		}
		alive++
		if p == nil || !p.full() && !(grows && p.crowded()) {
			roomy++
		}
	}
	switch {
	case alive <= len(members)/2:
		return register.NoQuorum
	case roomy <= len(members)/2 && !(reads && sl.home.Leading()):
		return register.StorageFull
	}
	return register.ReasonNone
}

// read answers a quorum read with what this replica holds. The slot's stripe is
// locked.
func (n *Node) read(c *wire.ServerConn, s *session, op *protocol.Op, epoch uint64) {
	rec, reason := n.readRecord(op, epoch)
	if reason != register.ReasonNone {
		s.refuse(c, op, reason)
		return
	}
	result := protocol.Result{ID: op.ID, Status: protocol.StatusVersion, Version: rec.Version}
	if op.Kind == protocol.ReadVersion {
		n.Metrics.Versions.Inc()
		s.out.result(c, &result)
		return
	}
	if s.room <= 0 {
		n.Metrics.RefusedBusy.Inc()
		s.refuse(c, op, register.Overloaded)
		return
	}
	n.Metrics.Reads.Inc()
	now := s.out.in.Now
	if rec.State.Live() && rec.State.Expired(now) { // only the home may say nil, after a write (R12)
		result.Status = protocol.StatusAskHome
		s.out.result(c, &result)
		return
	}
	n.lend(&op.Req)
	s.reply, _ = datatype.Execute(s.reply[:0], rec.State, &op.Req, now)
	s.room -= len(s.reply)
	result.Status, result.Reply = protocol.StatusValue, s.reply
	s.out.result(c, &result)
	if cap(s.reply) > maxKept {
		s.reply = nil
	}
}

func (n *Node) readRecord(op *protocol.Op, epoch uint64) (record.Record, register.Reason) {
	st := &n.stripes[op.Slot%stripes]
	sl, err := st.slot(op.Slot)
	if errors.Is(err, errNotReplica) {
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
		rec, _, err = sl.acceptor.Read(op.Key())
	}
	switch {
	case errors.Is(err, register.ErrNoRoom): // to adopt the epoch
		return record.Record{}, register.StorageFull
	case err != nil:
		st.fail(op.Slot, sl, err)
		return record.Record{}, register.StorageFailed
	}
	return rec, register.ReasonNone
}

// replicate executes a home's requests on this node's replicas, in groups.
func (n *Node) replicate(c *wire.ServerConn, s *session, body []byte) error {
	v := n.view.Load()
	if v == nil || n.failed.Load() || s.role != wire.RoleNode || !v.sameLife(s.hello.Member) {
		n.Metrics.RefusedNoVote.Inc()
		return nil // a vote is never given to, nor by, a process that is not of the ring
	}
	d := wire.NewDecoder(body)
	d.Ahead = s.objects.object
	for d.More() {
		m := &s.messages[s.group.n]
		protocol.DecodeRequest(&d, m)
		if d.Err() != nil {
			break
		}
		if d.Missing() {
			n.Metrics.ObjectsLost.Inc()
			continue
		}
		m.From, m.To = s.member(), v.self
		if s.group.add(m.Slot, m.Key, engine.UseWrite, false) || !d.More() {
			n.replicateGroup(c, s)
			c.Goes()
		}
	}
	if s.group.n > 0 {
		n.replicateGroup(c, s)
	}
	return d.Err()
}

func (n *Node) replicateGroup(c *wire.ServerConn, s *session) {
	n.lockGroup(&s.group, s.out)
	defer n.unlockGroup(&s.group)
	n.prefetchKeys(&s.group)
	for i := range s.group.n {
		m := &s.messages[i]
		st := &n.stripes[m.Slot%stripes]
		sl, err := st.slot(m.Slot)
		if err == nil && n.overflows(sl, m) {
			continue
		}
		if err == nil {
			if err = sl.acceptor.Handle(m, &s.answer); err != nil {
				st.fail(m.Slot, sl, err)
			}
		}
		if err != nil {
			continue // no answer: no vote
		}
		n.countReply(&s.answer)
		s.out.replicateReply(c, &s.answer)
	}
	clear(s.messages[:s.group.n])
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
