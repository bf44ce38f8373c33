package proxytest

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Way is how a server serves connections.
type Way struct {
	Name     string
	listener func(net.Listener) net.Listener
	// TLS: clients are served with TLS. Dial speaks it then.
	TLS bool
}

var (
	// ByFront serves all clients together, where the system has what that needs.
	ByFront = Way{"front", func(l net.Listener) net.Listener { return l }, false}
	// ByGoroutines serves each client by a goroutine, as anything that is not a plain socket is.
	ByGoroutines = Way{"goroutines", func(l net.Listener) net.Listener { return plainListener{l} }, false}
	// ByFrontTLS is ByFront with TLS.
	ByFrontTLS = Way{"front with TLS", ByFront.listener, true}
	// ByGoroutinesTLS is ByGoroutines with TLS.
	ByGoroutinesTLS = Way{"goroutines with TLS", ByGoroutines.listener, true}
)

// EachWay runs a test with each way of serving.
func EachWay(t *testing.T, test func(t *testing.T, w Way)) {
	for _, w := range []Way{ByFront, ByGoroutines, ByFrontTLS, ByGoroutinesTLS} {
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
	ServeTLS(net.Listener, *tls.Config) error
	Shutdown(context.Context) error
}

// ServeOn begins to serve on a listener, and returns where the error comes with which that ends.
func (w Way) ServeOn(t testing.TB, server Server, listener net.Listener) <-chan error {
	t.Helper()
	served := make(chan error, 1)
	if w.TLS {
		config := serveTLS(t, listener.Addr().String())
		go func() { served <- server.ServeTLS(listener, config) }()
	} else {
		go func() { served <- server.Serve(listener) }()
	}
	return served
}

// Serve serves on loopback until the test ends, and returns the address. Serving ends with the error closed.
func (w Way) Serve(t testing.TB, server Server, closed error) (addr string) {
	t.Helper()
	listener := w.Listen(t)
	served := w.ServeOn(t, server, listener)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, server.Shutdown(ctx))
		require.ErrorIs(t, <-served, closed)
	})
	return listener.Addr().String()
}
