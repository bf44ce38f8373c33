package node

import (
	"errors"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/broker"
	"github.com/quolldb/quoll/node/exec"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/node/replicate"
	"github.com/quolldb/quoll/node/watch"
	"github.com/quolldb/quoll/ring"
)

// session is a connection from a proxy, a node or a tool (wire.ServerConn.Data). It
// belongs to the goroutine that reads the connection.
type session struct {
	conn  replica.Conn
	hello protocol.Properties
	role  wire.Role
	// What packages exec, replicate and broker keep of it.
	batches  exec.Session
	requests replicate.Session
	watches  *watch.Watcher // of a proxy
	messages *broker.Session
}

// member returns the member that is connected, nil if it is no node or does not say which.
func (s *session) member() *ring.Member {
	if s.role != wire.RoleNode {
		return nil
	}
	return s.hello.Member
}

// Open implements wire.Handler.
func (n *Node) Open(c *wire.ServerConn, peer wire.Hello) {
	props, _ := protocol.DecodeProperties(peer) // accept has checked it
	c.Data = &session{conn: replica.Conn{ServerConn: c}, hello: props, role: peer.Role, batches: exec.Session{Pieces: props.Pieces}, requests: n.replicate.Session(), messages: n.broker.Session(c)}
	if peer.Role == wire.RoleProxy {
		c.Data.(*session).watches = n.watched.Open(c)
	}
	n.conns.add(c, peer.Role)
	if peer.Role == wire.RoleNode {
		_ = c.SendFrames(clockFrame(n.system())) // before it is asked for anything
	}
	if news := n.members.News(); news.Formation != 0 && peer.Role != wire.RoleTool {
		_ = c.SendFrames(protocol.RingFrame(news)) // the hello may have named an earlier version, and what was told since then it has not got
	}
	if n.replicas.Failed() && peer.Properties[toldOfFailure] == "" { // meanwhile
		c.Close()
	}
}

// Closed implements wire.Handler.
func (n *Node) Closed(c *wire.ServerConn, _ error) {
	n.Idle(c) // what it asked for is in flight, and others may wait for it
	s := c.Data.(*session)
	s.requests.Drop()
	s.watches.Close()
	s.messages.Drop()
	n.conns.remove(c)
}

// Idle implements wire.Handler.
func (n *Node) Idle(c *wire.ServerConn) { c.Data.(*session).conn.Flush() }

// errFrameType is that of frames that nobody knows.
var errFrameType = errors.New("node: unknown frame type")

// Frame implements wire.Handler.
func (n *Node) Frame(c *wire.ServerConn, typ wire.FrameType, body []byte, age time.Duration) {
	s := c.Data.(*session)
	n.Metrics.FramesIn.Inc()
	n.Metrics.BytesIn.Add(uint64(len(body)))
	var err error
	switch typ {
	case protocol.FrameBatch:
		err = n.exec.Batch(&s.conn, &s.batches, body, age)
	case protocol.FrameReplicate:
		err = n.replicate.Requests(&s.conn, &s.requests, s.member(), body)
	case protocol.FramePiece:
		if s.role == wire.RoleNode {
			err = s.requests.Piece(body)
		}
	case protocol.FrameCall:
		n.call(c, s, body)
	case protocol.FrameConsensus:
		n.decisions.receive(s, body)
	case protocol.FrameWatch:
		err = s.watches.Frame(body)
	case protocol.FrameInterest, protocol.FramePublish:
		err = n.messages(s, typ, body)
	case protocol.FrameClock, protocol.FrameLeading, protocol.FrameSlow:
		n.heard(s.member(), typ, body, age)
	default:
		err = errFrameType
	}
	if err != nil {
		n.log.Warn("a peer sent a frame that makes no sense; closing its connection", "peer", c.RemoteAddr().String(), "err", err)
		c.Close()
	}
}

// errNoProxy is that of frames that only proxies send.
var errNoProxy = errors.New("node: only proxies publish messages")

// messages takes what a proxy says of messages.
func (n *Node) messages(s *session, typ wire.FrameType, body []byte) error {
	switch {
	case s.role != wire.RoleProxy:
		return errNoProxy
	case typ == protocol.FrameInterest:
		return s.messages.Interest(body)
	case s.conn.Queued() > replica.MaxReplies: // whoever publishes takes its replies
		s.conn.Flush()
		s.conn.AwaitRoom(replica.MaxReplies)
	}
	return s.messages.Publish(body)
}

// heard notes what a member says of itself, or of this node.
func (n *Node) heard(member *ring.Member, typ wire.FrameType, body []byte, age time.Duration) {
	if member == nil {
		return
	}
	id := member.ID
	if v := n.replicas.View(); v != nil {
		id = v.Life(member) // it may have another number than when it connected
	}
	p := n.peers.Of(id)
	if p == nil {
		return
	}
	switch typ {
	case protocol.FrameClock:
		p.HeardClock(body, age)
	case protocol.FrameLeading:
		p.HeardLeading(decodeSlotSet(body))
	case protocol.FrameSlow:
		p.HeardSlow()
	}
}
