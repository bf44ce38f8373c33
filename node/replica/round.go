package replica

import (
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/transfer"
)

// Round gathers what one round of work sends. What says something of what this node holds,
// answers, votes, and the own replicas' votes too, does not leave before the engine has made
// durable what was staged until then (R2). The requests of homes say nothing of it and leave at once,
// so that all replicas make a write durable at the same time. Nothing else may travel in their frames.
type Round struct {
	host    *Host
	in      register.Input // of the homes' steps, with the moment when the round began
	ready   register.Ready // what they have brought about: the votes until the commit, all else until act
	peers   []peerBuffer   // FrameReplicate, by index of the peer
	conns   []connBuffer   // replies
	streams []connStream   // replies that are sent in pieces
	group   Group          // of the votes that homes handle together
	done    func(error)    // r.committed, made once
	waits   bool           // something waits for the commit
	told    int            // of how many of the answers the events have been told
}

// resultSize is for what a result has beside its reply.
const resultSize = 64

func (h *Host) newRound() *Round {
	r := &Round{host: h, peers: make([]peerBuffer, len(h.peers.All()))}
	r.done = r.committed
	return r
}

// Begin begins a round. Flush ends it.
func (h *Host) Begin() *Round {
	h.rounds.Add(1)
	r := h.pool.Get().(*Round)
	r.in.Moment = register.Moment{Now: h.opt.Now(), Mono: h.opt.Mono(), Full: h.Space.Full(), Instant: h.instant}
	return r
}

// Now is the wall clock when the round began, and Mono the monotonic one, in milliseconds.
func (r *Round) Now() int64 { return r.in.Now }

// Mono is the monotonic clock when the round began, in milliseconds.
func (r *Round) Mono() int64 { return r.in.Mono }

// Full reports whether the round has to do without writes.
func (r *Round) Full() bool { return r.in.Full }

// replicate appends a home's request to the frame for a peer.
func (r *Round) replicate(p *peer.Peer, m *register.Message) {
	if p.Lane().Takes(m) {
		return
	}
	f := r.peer(p)
	f.buf = protocol.AppendRequest(buffer.Reserve(f.open(protocol.FrameReplicate), m.Size()), m)
}

// peer returns the frame for a peer.
func (r *Round) peer(p *peer.Peer) *peerBuffer {
	for len(r.peers) <= p.Index() { // it has come since the round was made
		r.peers = append(r.peers, peerBuffer{})
	}
	f := &r.peers[p.Index()]
	if f.peer != p {
		f.flush() // to one that had the index before, and is gone
		f.peer = p
	}
	return f
}

// conn returns the frame of replies of a type to a connection.
func (r *Round) conn(c *Conn, typ wire.FrameType) *connBuffer {
	r.waits = true
	for i := range r.conns {
		if r.conns[i].conn == c && r.conns[i].typ == typ {
			r.conns[i].open(typ)
			return &r.conns[i]
		}
	}
	if len(r.conns) < cap(r.conns) { // reuse the buffer of an earlier round
		r.conns = r.conns[:len(r.conns)+1]
	} else {
		r.conns = append(r.conns, connBuffer{})
	}
	b := &r.conns[len(r.conns)-1]
	b.conn, b.typ, b.buf = c, typ, b.buf[:0]
	b.open(typ)
	return b
}

// Queued returns how many bytes of replies to a connection are there.
func (r *Round) Queued(c *Conn) int {
	n := 0
	for i := range r.conns {
		if r.conns[i].conn == c {
			n += r.conns[i].length()
		}
	}
	return n
}

// Result sends a proxy the result of an operation.
func (r *Round) Result(c *Conn, result *protocol.Result) {
	b := r.conn(c, protocol.FrameBatchReply)
	b.buf = protocol.AppendResult(buffer.Reserve(b.buf, len(result.Reply)+resultSize), result)
}

// ResultOf is Result with a value for a reply, which is made where it leaves: reply appends it, size bytes and a few more. It returns how many bytes the result has.
func (r *Round) ResultOf(c *Conn, result *protocol.Result, size int, reply func(dst []byte) []byte) (length int) {
	b := r.conn(c, protocol.FrameBatchReply)
	dst := buffer.Reserve(b.buf, size+resultSize)
	b.buf = protocol.AppendResultOf(dst, result, reply)
	return len(b.buf) - len(dst)
}

// Vote sends a home what a replica of this node has answered.
func (r *Round) Vote(c *Conn, m *register.Message) {
	if transfer.Large(&m.Found) {
		if a := c.Answers.SyncRead(m); a != nil { // it shows a large object, and leaves as soon as all is durable
			r.Stream(c, a)
		}
		return
	}
	b := r.conn(c, protocol.FrameReplicateReply)
	b.buf = protocol.AppendReply(b.buf, m)
}

// Stream sends a reply in pieces, with the others. If the connection takes no more of these, or has ended, it is as if it had been lost.
func (r *Round) Stream(c *Conn, s wire.Source) {
	r.waits = true
	r.streams = append(r.streams, connStream{c, s})
}

// sendStreams sends the replies that are sent in pieces.
func (r *Round) sendStreams() {
	for _, s := range r.streams {
		if s.conn.Stream(s.source) != nil {
			s.source.End()
		}
	}
	clear(r.streams)
	r.streams = r.streams[:0]
}

// Flush lets go of the homes' requests, and of all else as soon as it is durable. The
// round belongs to the engine's callback from here on. A node whose store has failed says nothing.
func (r *Round) Flush() {
	h := r.host
	if h.failed.Load() {
		r.recycle()
		return
	}
	h.store.watched.Flush()
	for i := range r.peers {
		r.peers[i].flush()
	}
	if !r.waits {
		r.recycle()
		return
	}
	for i := range r.conns {
		r.conns[i].conn.waiting.Add(int64(r.conns[i].length()))
	}
	h.Commits.asked(r.in.Mono)
	h.engine.Commit(r.done)
}

// committed sends what had to be durable, and then handles the own replica's replies,
// which may make more to send.
func (r *Round) committed(err error) {
	h := r.host
	h.Commits.done(r.in.Mono, h.opt.Mono())
	if err != nil {
		h.StorageFailed(err)
	}
	if h.failed.Load() {
		r.recycle()
		return
	}
	for i := range r.conns {
		b := &r.conns[i]
		b.conn.waiting.Add(-int64(b.length()))
		b.hand(b.send)
	}
	r.sendStreams()
	if len(r.ready.Votes) == 0 {
		r.recycle()
		return
	}
	next := h.Begin()
	for replies := r.ready.Votes; len(replies) > 0; {
		count := min(len(replies), GroupSize)
		h.HandleReplies(&r.group, replies[:count], next)
		replies = replies[count:]
	}
	r.recycle()
	next.Flush()
}

func (r *Round) recycle() {
	for i := range r.peers {
		r.peers[i].recycle()
		r.peers[i].peer = nil
	}
	for i := range r.conns {
		r.conns[i].recycle()
		r.conns[i].conn = nil
	}
	for _, s := range r.streams { // that were not sent
		s.source.End()
	}
	clear(r.streams)
	r.streams = r.streams[:0]
	r.ready.Reset()
	r.conns, r.waits = r.conns[:0], false
	r.host.pool.Put(r)
	r.host.rounds.Add(-1)
}
