package proxytest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Way is how a server serves connections.
type Way struct {
	Name     string
	listener func(net.Listener) net.Listener
}

var (
	// ByFront serves all clients together, where the system has what that needs.
	ByFront = Way{"front", func(l net.Listener) net.Listener { return l }}
	// ByGoroutines serves each client by a goroutine, as anything that is not a plain socket is.
	ByGoroutines = Way{"goroutines", func(l net.Listener) net.Listener { return plainListener{l} }}
)

// EachWay runs a test with each way of serving.
func EachWay(t *testing.T, test func(t *testing.T, w Way)) {
	for _, w := range []Way{ByFront, ByGoroutines} {
		t.Run(w.Name, func(t *testing.T) { test(t, w) })
	}
}

// plainListener hides that its connections are sockets.
type plainListener struct{ net.Listener }

type plainConn struct{ net.Conn }

func (c plainConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

func (l plainListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return plainConn{conn}, err
}

// Listen returns a listener on loopback.
func (w Way) Listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return w.listener(listener)
}

// Server is what Serve serves.
type Server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
}

// Serve serves on loopback until the test ends, and returns the address. Serving ends with the error closed.
func (w Way) Serve(t testing.TB, server Server, closed error) (addr string) {
	t.Helper()
	listener := w.Listen(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, server.Shutdown(ctx))
		require.ErrorIs(t, <-served, closed)
	})
	return listener.Addr().String()
}
