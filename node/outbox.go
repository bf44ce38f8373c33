package node

import (
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/transfer"
)

// outbox gathers what one round of work sends. What says something of what this node holds,
// answers, votes, and the own replicas' votes too, does not leave before the engine has made
// durable what was staged until then (R2). The requests of homes say nothing of it and leave at once,
// so that all replicas make a write durable at the same time. Nothing else may travel in their frames.
type outbox struct {
	node    *Node
	in      register.Input // of the homes' steps, with the moment when the round began
	ready   register.Ready // what they have brought about: the votes until the commit, all else until act
	peers   []frameBuffer  // FrameReplicate, by index of the peer
	conns   []connBuffer   // replies
	answers []connAnswer   // replies that show large objects
	group   group          // of the votes that homes handle together
	done    func(error)    // out.committed, made once
	waits   bool           // something waits for the commit
}

// frameBuffer is a frame under construction.
type frameBuffer struct {
	buf   []byte
	start int
	full  [][]byte // frames before it, of full length
	size  int      // of these
}

// length returns how many bytes of frames there are.
func (f *frameBuffer) length() int { return f.size + len(f.buf) }

// hand ends the frame under construction and hands all of them over, to who returns memory instead.
func (f *frameBuffer) hand(to func(frames []byte) []byte) {
	for _, frames := range f.full {
		buffer.Put(to(frames))
	}
	f.drop()
	f.buf = to(wire.EndFrame(f.buf, f.start))
}

// drop forgets the frames before the one under construction.
func (f *frameBuffer) drop() {
	clear(f.full)
	f.full, f.size = f.full[:0], 0
}

// connBuffer is a frame of replies of one type for one connection.
type connBuffer struct {
	conn *wire.ServerConn
	typ  wire.FrameType
	frameBuffer
}

func (b *connBuffer) send(frames []byte) []byte {
	instead, _ := b.conn.HandFrames(frames) // a lost connection is Closed's business
	return instead
}

func (b *connBuffer) session() *session { return b.conn.Data.(*session) }

// maxFrame is the length from which a frame is closed and another one begun, so
// that no frame comes near the transport's cap.
const maxFrame = 1 << 20

// maxKept bounds the buffers that wait in the pool: some frames of full length. (What had to be allocated
// anew for each round took most of a node's time with values of 64 KiB.)
const maxKept = 4 << 20

// resultSize is for what a result has beside its reply.
const resultSize = 64

func (n *Node) newOutbox() *outbox {
	o := &outbox{node: n, peers: make([]frameBuffer, len(n.peers))}
	o.done = o.committed
	return o
}

func (n *Node) getOutbox() *outbox {
	n.rounds.Add(1)
	o := n.outboxes.Get().(*outbox)
	o.in.Moment = register.Moment{Now: n.now(), Mono: n.mono(), Full: n.full(), Instant: n.instant}
	return o
}

func (f *frameBuffer) open(typ wire.FrameType) []byte {
	switch {
	case len(f.buf) == 0:
		f.start = 0
	case len(f.buf)-f.start < maxFrame:
		return f.buf
	default:
		f.full = append(f.full, wire.EndFrame(f.buf, f.start))
		f.size += len(f.buf)
		f.buf, f.start = buffer.Get(0), 0
	}
	f.buf = wire.BeginFrame(f.buf, typ)
	return f.buf
}

// replicate appends a home's request to the frame for a peer.
func (o *outbox) replicate(peer int, m *register.Message) {
	if o.node.peers[peer].lane.Takes(m) {
		return
	}
	f := &o.peers[peer]
	f.buf = protocol.AppendRequest(buffer.Reserve(f.open(protocol.FrameReplicate), m.Size()), m)
}

// conn returns the frame of replies of a type to a connection.
func (o *outbox) conn(c *wire.ServerConn, typ wire.FrameType) *connBuffer {
	o.waits = true
	for i := range o.conns {
		if o.conns[i].conn == c && o.conns[i].typ == typ {
			o.conns[i].open(typ)
			return &o.conns[i]
		}
	}
	if len(o.conns) < cap(o.conns) { // reuse the buffer of an earlier round
		o.conns = o.conns[:len(o.conns)+1]
	} else {
		o.conns = append(o.conns, connBuffer{})
	}
	b := &o.conns[len(o.conns)-1]
	b.conn, b.typ, b.buf = c, typ, b.buf[:0]
	b.open(typ)
	return b
}

// queued returns how many bytes of replies to a connection are there.
func (o *outbox) queued(c *wire.ServerConn) int {
	n := 0
	for i := range o.conns {
		if o.conns[i].conn == c {
			n += o.conns[i].length()
		}
	}
	return n
}

func (o *outbox) result(c *wire.ServerConn, r *protocol.Result) {
	b := o.conn(c, protocol.FrameBatchReply)
	b.buf = protocol.AppendResult(buffer.Reserve(b.buf, len(r.Reply)+resultSize), r)
}

func (o *outbox) replicateReply(c *wire.ServerConn, m *register.Message) {
	if transfer.Large(&m.Found) {
		if a := c.Data.(*session).answers.SyncRead(m); a != nil {
			o.answer(c, a)
		}
		return
	}
	b := o.conn(c, protocol.FrameReplicateReply)
	b.buf = protocol.AppendReply(b.buf, m)
}

// connAnswer is a reply that shows large objects, and whom to.
type connAnswer struct {
	conn   *wire.ServerConn
	answer *transfer.Answer
}

// answer sends a reply that shows large objects as soon as all is durable.
func (o *outbox) answer(c *wire.ServerConn, a *transfer.Answer) {
	o.waits = true
	o.answers = append(o.answers, connAnswer{c, a})
}

// sendAnswers sends the replies that show large objects.
func (o *outbox) sendAnswers() {
	for _, a := range o.answers {
		if a.conn.Stream(a.answer) != nil {
			a.answer.End() // as if it had been lost
		}
	}
	clear(o.answers)
	o.answers = o.answers[:0]
}

// flush lets go of the homes' requests, and of all else as soon as it is durable. The
// outbox belongs to the engine's callback from here on. A node whose store has failed says nothing.
func (o *outbox) flush() {
	n := o.node
	if n.failed.Load() {
		o.recycle()
		return
	}
	for i := range o.peers {
		if f := &o.peers[i]; len(f.buf) > 0 {
			f.hand(n.peers[i].send)
		}
	}
	if !o.waits {
		o.recycle()
		return
	}
	for i := range o.conns {
		o.conns[i].session().waiting.Add(int64(o.conns[i].length()))
	}
	n.work.asked(o.in.Mono)
	n.engine.Commit(o.done)
}

// committed sends what had to be durable, and then handles the own replica's replies,
// which may make more to send.
func (o *outbox) committed(err error) {
	n := o.node
	n.work.done(o.in.Mono, n.mono())
	if err != nil {
		n.storageFailed(err)
	}
	if n.failed.Load() {
		o.recycle()
		return
	}
	for i := range o.conns {
		b := &o.conns[i]
		b.session().waiting.Add(-int64(b.length()))
		b.hand(b.send)
	}
	o.sendAnswers()
	if len(o.ready.Votes) == 0 {
		o.recycle()
		return
	}
	next := n.getOutbox()
	for replies := o.ready.Votes; len(replies) > 0; {
		count := min(len(replies), groupSize)
		n.handleReplies(&o.group, replies[:count], next)
		replies = replies[count:]
	}
	o.recycle()
	next.flush()
}

func (o *outbox) recycle() {
	for i := range o.peers {
		o.peers[i].drop()
		o.peers[i].buf = keep(o.peers[i].buf)
	}
	for i := range o.conns {
		o.conns[i].drop()
		o.conns[i].conn, o.conns[i].buf = nil, keep(o.conns[i].buf)
	}
	for _, a := range o.answers { // that were not sent
		a.answer.End()
	}
	clear(o.answers)
	o.answers = o.answers[:0]
	o.ready.Reset()
	o.conns, o.waits = o.conns[:0], false
	n := o.node
	n.outboxes.Put(o)
	n.rounds.Add(-1)
}

func keep(buf []byte) []byte {
	if cap(buf) > maxKept {
		return nil
	}
	return buf[:0]
}
