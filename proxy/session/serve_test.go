package session

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// served is a service with the front that serves its sessions.
type served struct {
	*front.Server
	service *Service
	last    *Session // that was opened
}

func newServer(cfg Config, cluster route.Cluster) *served {
	s := &served{service: NewService(cfg, cluster)}
	s.Server = front.New(front.Config{}, cluster, func(c *front.Conn) front.Session {
		s.last = s.service.Open(c)
		return s.last
	})
	return s
}

// startServer serves the cluster on loopback until the test ends.
func startServer(t testing.TB, cfg Config, cluster route.Cluster) (*Service, string) {
	t.Helper()
	return serve(t, proxytest.ByFront, cfg, cluster)
}

func serve(t testing.TB, w proxytest.Way, cfg Config, cluster route.Cluster) (*Service, string) {
	t.Helper()
	s := newServer(cfg, cluster)
	return s.service, w.Serve(t, s, front.ErrServerClosed)
}

// listen serves one connection.
func listen(t testing.TB, cfg Config, cluster route.Cluster, conn net.Conn) *served {
	s := newServer(cfg, cluster)
	listener := &single{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	listener.conns <- conn
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	t.Cleanup(func() {
		require.NoError(t, s.Shutdown(context.Background()))
		require.ErrorIs(t, <-ended, front.ErrServerClosed)
	})
	return s
}

// single is a listener to which connections are given.
type single struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *single) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *single) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *single) Addr() net.Addr { return &net.UnixAddr{Name: "single"} }
