package peer

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/pipes"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

var quiet = slog.New(slog.DiscardHandler)

// events is a Handler that notes what it is told.
type events struct {
	peer   *Peer
	list   []string
	bodies map[wire.FrameType]string
}

func (e *events) tell(what string) { e.list = append(e.list, what) }

func (e *events) Met(props *protocol.Properties) { e.peer.Meet(props, props.Voting); e.tell("met") }
func (e *events) Idle()                          { e.tell("idle") }
func (e *events) Down()                          { e.tell("down") }
func (e *events) Changed(wire.State)             {}

func (e *events) Frame(typ wire.FrameType, body []byte, _ time.Duration) {
	if e.bodies == nil {
		e.bodies = map[wire.FrameType]string{}
	}
	e.bodies[typ] = string(body)
	e.tell("frame")
}

// clock is a monotonic clock that stands until it is moved.
type clock struct{ now int64 }

func (c *clock) pass(d time.Duration) { c.now += d.Milliseconds() }

// newPeer returns a peer b, without a link unless it is started, what it tells, and its clock.
func newPeer(change func(*Config)) (*Peer, *events, *clock) {
	e, c := new(events), &clock{now: 1_000_000}
	cfg := Config{
		Member:  ring.Member{ID: 2, Name: "b", Peer: "b:1"},
		Options: wire.Options{Logger: quiet},
		Dial: func(context.Context, string) (net.Conn, error) {
			return nil, io.ErrClosedPipe
		},
		Judge:   func(wire.Hello, protocol.Properties) error { return nil },
		Mono:    func() int64 { return c.now },
		Metrics: new(metrics.Node),
		Handler: e,
	}
	if change != nil {
		change(&cfg)
	}
	e.peer = New(cfg)
	return e.peer, e, c
}

// remote is the process at the other end of a peer's link: a server without sockets, for a synctest bubble.
type remote struct {
	*pipes.Listener
	opened chan *wire.ServerConn
}

// serve runs what answers as b until the test ends.
func serve(t *testing.T) *remote {
	r := &remote{Listener: pipes.Listen(), opened: make(chan *wire.ServerConn, 10)}
	hello := protocol.Properties{Voting: true, Version: "v1"}.Encode(wire.Hello{Role: wire.RoleNode, Name: "b"})
	server := wire.NewServer(wire.ServerConfig{Options: wire.Options{Logger: quiet}, Handler: r, Accept: func(wire.Hello) (wire.Hello, error) { return hello, nil }})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(r) }()
	t.Cleanup(func() {
		server.Close()
		require.ErrorIs(t, <-ended, wire.ErrClosed)
	})
	return r
}

// Open implements wire.Handler.
func (r *remote) Open(c *wire.ServerConn, _ wire.Hello) { r.opened <- c }

// Frame implements wire.Handler: nothing is answered.
func (r *remote) Frame(*wire.ServerConn, wire.FrameType, []byte, time.Duration) {}

// Idle implements wire.Handler.
func (r *remote) Idle(*wire.ServerConn) {}

// Closed implements wire.Handler.
func (r *remote) Closed(*wire.ServerConn, error) {}
