package replicate

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/pipes"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

var quiet = slog.New(slog.DiscardHandler)

// noNode is a node to which nothing happens.
type noNode struct{}

func (noNode) StorageFailed(error)           {}
func (noNode) Damaged(uint16, error)         {}
func (noNode) Rebuilding(uint16) bool        { return false }
func (noNode) StandIn(uint16, uint16) uint16 { return 0 }
func (noNode) Missed([]register.Missed)      {}
func (noNode) Later(uint16, uint64)          {}

// roomy is an engine that has as little room as it is told, and commits when it is told.
type roomy struct {
	engine.Engine
	room error
	hold atomic.Bool
	held []func(error)
}

func (e *roomy) Room() error { return e.room }

func (e *roomy) Commit(done func(error)) {
	if e.hold.Load() {
		e.held = append(e.held, done)
		return
	}
	e.Engine.Commit(done)
}

// release commits what was held.
func (e *roomy) release() {
	e.hold.Store(false)
	for _, done := range e.held {
		e.Engine.Commit(done)
	}
}

// node is what of a node this package is about, and a server without sockets before it. It is a process of the ring as soon as it has entered.
type node struct {
	*Replicator
	engine *roomy
	peers  *peer.Set
	view   *replica.View

	*pipes.Listener
	errors chan error // of frames that make no sense
	opened []*wire.ServerConn
}

// cluster is the ring that the tests have. Only the first members run.
var cluster = ring.Initial{{Name: "a", Peer: "a:1"}, {Name: "b", Peer: "b:1"}, {Name: "c", Peer: "c:1"}}.Cluster("test", 3)

// member returns what the ring says of a member.
func member(t *testing.T, name string) *ring.Member {
	m, found := cluster.ByName(name)
	require.True(t, found)
	return &m
}

// start runs a member until the test, which is in a synctest bubble, ends.
func start(t *testing.T, name string) *node {
	n := &node{engine: &roomy{Engine: memory.New()}, peers: &peer.Set{}, Listener: pipes.Listen(), errors: make(chan error, 10)}
	began, m := time.Now(), new(metrics.Node)
	mono := func() int64 { return time.Since(began).Milliseconds() + 1 }
	host := replica.New(noNode{}, replica.Options{Engine: n.engine, Peers: n.peers, Timing: register.DefaultTiming(),
		Now: func() int64 { return time.Now().UnixMilli() }, Mono: mono, Metrics: m, Logger: quiet})
	n.Replicator = New(host, m, quiet)
	d, err := change.FromCluster(cluster)
	require.NoError(t, err)
	n.view, err = replica.NewView(d, member(t, name).ID)
	require.NoError(t, err)

	hello := protocol.Properties{Member: member(t, name), Voting: true}.Encode(wire.Hello{Role: wire.RoleNode, Name: name})
	server := wire.NewServer(wire.ServerConfig{Options: wire.Options{Logger: quiet}, Handler: n, Accept: func(wire.Hello) (wire.Hello, error) { return hello, nil }})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(n) }()
	t.Cleanup(func() {
		server.Close()
		require.ErrorIs(t, <-ended, wire.ErrClosed)
		require.NoError(t, n.engine.Close())
	})
	return n
}

// running is start of a member that votes.
func running(t *testing.T, name string) *node {
	n := start(t, name)
	n.host.Enter(n.view)
	return n
}

// connect lets a node have another one as its peer, to which its homes send.
func (n *node) connect(t *testing.T, name string, dial func(context.Context, string) (net.Conn, error)) *peer.Peer {
	m := member(t, name)
	l := &link{replies: n.Replies(m.ID, name)}
	l.peer = peer.New(peer.Config{Member: *m, Options: wire.Options{Logger: quiet}, Dial: dial, Hello: func() wire.Hello {
		return wire.Hello{Role: wire.RoleNode, Name: "a"}
	}, Judge: func(wire.Hello, protocol.Properties) error { return nil }, Mono: func() int64 { return time.Now().UnixMilli() }, Metrics: n.metrics, Handler: l})
	n.peers.Add(l.peer)
	return l.peer
}

// meet runs other members, lets a node have them as its peers, and returns them once they have found each other.
func (n *node) meet(t *testing.T, names ...string) (others []*node) {
	for _, name := range names {
		other := running(t, name)
		p := n.connect(t, name, other.Dial)
		p.Start(t.Context())
		t.Cleanup(p.Close)
		others = append(others, other)
	}
	synctest.Wait()
	return others
}

// link is what a node does with what comes from a peer.
type link struct {
	peer    *peer.Peer
	replies *Replies
}

func (l *link) Met(props *protocol.Properties) { l.peer.Meet(props, true) }
func (l *link) Idle()                          { l.replies.Flush() }
func (l *link) Down()                          { l.replies.Drop() }
func (l *link) Changed(wire.State)             {}
func (l *link) Frame(typ wire.FrameType, body []byte, _ time.Duration) {
	if typ == protocol.FrameReplicateReply {
		l.replies.Frame(body)
	}
}

// session is a connection to a node.
type session struct {
	conn     replica.Conn
	requests Session
	from     *ring.Member
}

// Open implements wire.Handler.
func (n *node) Open(c *wire.ServerConn, hello wire.Hello) {
	n.opened = append(n.opened, c)
	s := &session{conn: replica.Conn{ServerConn: c}, requests: n.Session()}
	if m, found := cluster.ByName(hello.Name); found {
		m.Generation += uint64(len(hello.Properties["another life"]))
		s.from = &m
	}
	c.Data = s
}

// Frame implements wire.Handler.
func (n *node) Frame(c *wire.ServerConn, typ wire.FrameType, body []byte, _ time.Duration) {
	s := c.Data.(*session)
	var err error
	switch typ {
	case protocol.FrameReplicate:
		err = n.Requests(&s.conn, &s.requests, s.from, body)
	case protocol.FramePiece:
		err = s.requests.Piece(body)
	}
	if err != nil {
		n.errors <- err
	}
}

// Idle implements wire.Handler.
func (n *node) Idle(c *wire.ServerConn) { c.Data.(*session).conn.Flush() }

// Closed implements wire.Handler.
func (n *node) Closed(c *wire.ServerConn, _ error) {
	s := c.Data.(*session)
	s.conn.Flush()
	s.requests.Drop()
}

// home is a connection on which another node's homes ask, and what they are answered.
type home struct {
	t       *testing.T
	link    *wire.Link
	answers []register.Message
}

// homeAt returns a connection to a node from another one.
func homeAt(t *testing.T, n *node, from string) *home {
	return homeOf(t, n, wire.Hello{Role: wire.RoleNode, Name: from})
}

func homeOf(t *testing.T, n *node, hello wire.Hello) *home {
	h := &home{t: t}
	h.link = wire.NewLink(wire.LinkConfig{Options: wire.Options{Logger: quiet}, Dial: n.Dial, Hello: func() wire.Hello { return hello }, OnFrame: h.frame})
	h.link.Start(t.Context())
	t.Cleanup(h.link.Close)
	synctest.Wait()
	require.Equal(t, wire.Up, h.link.State())
	return h
}

func (h *home) frame(typ wire.FrameType, body []byte, _ time.Duration) {
	if typ != protocol.FrameReplicateReply {
		return
	}
	body = append([]byte(nil), body...)
	for d := wire.NewDecoder(body); d.More() && d.Err() == nil; {
		var m register.Message
		protocol.DecodeReply(&d, &m)
		h.answers = append(h.answers, m)
	}
}

// send sends one frame.
func (h *home) send(typ wire.FrameType, body []byte) {
	h.t.Helper()
	require.NoError(h.t, h.link.SendFrames(wire.EndFrame(append(wire.BeginFrame(nil, typ), body...), 0)))
}

// ask sends requests in one frame, and returns what has been answered when nothing goes on any more.
func (h *home) ask(requests ...*register.Message) []register.Message {
	h.t.Helper()
	h.answers = nil
	var body []byte
	for _, m := range requests {
		body = protocol.AppendRequest(body, m)
	}
	h.send(protocol.FrameReplicate, body)
	synctest.Wait()
	return h.answers
}

var ballot = record.Ballot{Counter: 10, Incarnation: record.NewIncarnation(7, 2)}

// accept is a home's request to write a string of so many bytes, 0 for a deletion.
func accept(slot uint16, key string, seq uint64, size int) *register.Message {
	m := &register.Message{Kind: register.Accept, Slot: slot, Epoch: cluster.Epoch, Ballot: ballot, Version: record.Version{Ballot: ballot, Seq: seq},
		Change: record.Change{Key: []byte(key)}}
	if size > 0 {
		m.State = record.State{Type: record.String, Value: make([]byte, size)}
	}
	return m
}
