package protocol

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answerer is a node that answers calls with their payload, method
// 9 with an error, and method 8 never.
type answerer struct{ called chan Method }

func (a *answerer) Open(*wire.ServerConn, wire.Hello) {}
func (a *answerer) Idle(*wire.ServerConn)             {}
func (a *answerer) Closed(*wire.ServerConn, error)    {}
func (a *answerer) Frame(c *wire.ServerConn, _ wire.FrameType, body []byte, _ time.Duration) {
	id, method, payload, err := DecodeCall(body)
	if err != nil {
		c.Close()
		return
	}
	switch method {
	case 8:
	case 9:
		_ = c.SendFrames(AppendCallReply(nil, id, payload, errors.New("no such thing")))
	default:
		_ = c.SendFrames(AppendCallReply(nil, id, payload, nil))
	}
	a.called <- method
}

func TestCaller(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	handler := &answerer{called: make(chan Method, 10)}
	server := wire.NewServer(wire.ServerConfig{Options: wire.Options{Logger: quiet}, Handler: handler,
		Accept: func(wire.Hello) (wire.Hello, error) { return wire.Hello{Role: wire.RoleNode}, nil }})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()

	var caller *Caller
	up := make(chan uint64, 10)
	link := wire.NewLink(wire.LinkConfig{Options: wire.Options{Logger: quiet}, Address: listener.Addr().String(),
		Hello:   func() wire.Hello { return wire.Hello{Role: wire.RoleTool} },
		OnUp:    func(generation uint64, _ wire.Hello) { up <- generation },
		OnFrame: func(_ wire.FrameType, body []byte, _ time.Duration) { caller.HandleReply(body, nil) },
		OnDown:  func(_ uint64, err error) { caller.Down(err) }})
	caller = NewCaller(link)
	_, err = caller.Call(t.Context(), MethodScan, nil)
	require.ErrorIs(t, err, wire.ErrDown, "at once without connection")
	link.Start(t.Context())
	<-up

	reply, err := caller.Call(t.Context(), MethodScan, []byte("payload"))
	require.NoError(t, err)
	require.Equal(t, "payload", string(reply))
	var number int
	require.NoError(t, caller.CallJSON(t.Context(), MethodStatus, []byte("42"), &number))
	require.Equal(t, 42, number)
	require.Error(t, caller.CallJSON(t.Context(), MethodStatus, []byte("{"), &number))

	_, err = caller.Call(t.Context(), 9, nil)
	require.ErrorIs(t, err, ErrCall)
	require.EqualError(t, err, "the node refused: no such thing")
	require.ErrorIs(t, caller.CallJSON(t.Context(), 9, nil, &number), ErrCall)

	for len(handler.called) > 0 {
		<-handler.called
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error, 2)
	go func() { _, err := caller.Call(ctx, 8, nil); waits <- err }()
	require.EqualValues(t, 8, <-handler.called)
	cancel()
	require.ErrorIs(t, <-waits, context.Canceled)

	go func() { _, err := caller.Call(t.Context(), 8, nil); waits <- err }()
	require.EqualValues(t, 8, <-handler.called)
	server.Close()
	require.ErrorIs(t, <-ended, wire.ErrClosed)
	require.Error(t, <-waits, "the connection ended meanwhile")
	link.Close()
	require.Empty(t, caller.pending, "nothing is kept of calls that ended")
}
