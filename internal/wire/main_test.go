package wire

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	typeEcho  = FirstFrameType
	typePanic = FirstFrameType + 1
)

var quiet = slog.New(slog.DiscardHandler)

// echo is a handler that sends every body back, one batch at a time.
type echo struct {
	opened, ended chan error
	// gate, when set, is received from before each frame is handled.
	gate chan struct{}
}

func newEcho() *echo { return &echo{opened: make(chan error, 100), ended: make(chan error, 100)} }

func (e *echo) Open(c *ServerConn, _ Hello) {
	c.Data = new([]byte)
	e.opened <- nil
}

func (e *echo) Frame(c *ServerConn, typ FrameType, body []byte, _ time.Duration) {
	if e.gate != nil {
		<-e.gate
	}
	if typ == typePanic {
		panic("the handler was told to")
	}
	batch := c.Data.(*[]byte)
	*batch = appendFrame(*batch, typ, body)
}

func (e *echo) Idle(c *ServerConn) {
	batch := c.Data.(*[]byte)
	_ = c.SendFrames(*batch)
	*batch = (*batch)[:0]
}

func (e *echo) Closed(_ *ServerConn, err error) { e.ended <- err }

func accept(Hello) (Hello, error) {
	return Hello{Role: RoleNode, Name: "server", Cluster: "test"}, nil
}

// serve runs a server on listener until the test ends.
func serve(t testing.TB, listener net.Listener, cfg ServerConfig) *Server {
	cfg.Logger = cmp.Or(cfg.Logger, quiet)
	if cfg.Accept == nil {
		cfg.Accept = accept
	}
	if cfg.Handler == nil {
		cfg.Handler = newEcho()
	}
	server := NewServer(cfg)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Close()
		require.ErrorIs(t, <-ended, ErrClosed)
	})
	return server
}

func loopback(t testing.TB) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return listener
}

// observed is a link and what its callbacks said.
type observed struct {
	*Link
	up     chan uint64
	down   chan error
	frames chan string
	states chan State
}

// connect starts a link that is closed when the test ends.
func connect(t testing.TB, cfg LinkConfig) *observed {
	o := &observed{
		up: make(chan uint64, 100), down: make(chan error, 100),
		frames: make(chan string, 1000), states: make(chan State, 100),
	}
	cfg.Logger = quiet
	if cfg.Hello == nil {
		cfg.Hello = func() Hello { return Hello{Role: RoleProxy, Name: "dialer", Cluster: "test"} }
	}
	cfg.OnUp = func(generation uint64, _ Hello) { o.up <- generation }
	cfg.OnDown = func(_ uint64, err error) { o.down <- err }
	cfg.OnState = func(s State) { o.states <- s }
	cfg.OnFrame = func(_ FrameType, body []byte, _ time.Duration) { o.frames <- string(body) }
	o.Link = NewLink(cfg)
	o.Start(context.Background())
	t.Cleanup(o.Close)
	return o
}
