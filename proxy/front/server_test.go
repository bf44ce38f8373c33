package front_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"go.uber.org/goleak"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestShutdownDrains: the batch that is being executed is answered, then the
// connections end, and no goroutine is left.
func TestShutdownDrains(t *testing.T) { proxytest.EachWay(t, testShutdownDrains) }

func testShutdownDrains(t *testing.T, w proxytest.Way) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	started, release := make(chan struct{}), make(chan struct{})
	cluster := proxytest.NewCluster()
	cluster.Before = func(*route.Batch) { close(started); <-release }
	server := newServer(front.Config{}, cluster)
	listener := w.Listen(t)
	served := w.ServeOn(t, server, listener)

	idle, busy := proxytest.Dial(t, listener.Addr().String()), proxytest.Dial(t, listener.Addr().String())
	require.Equal(t, "+PONG\r\n", idle.Do("PING"))
	busy.Send("SET a 1")
	<-started
	stopped := make(chan error, 1)
	go func() { stopped <- server.Shutdown(context.Background()) }()
	require.Empty(t, idle.Rest())
	require.ErrorIs(t, <-served, front.ErrServerClosed)
	select {
	case <-stopped:
		t.Fatal("Shutdown did not wait for the batch")
	default:
	}
	close(release)
	require.Equal(t, "+OK\r\n", busy.Rest())
	require.NoError(t, <-stopped)
	require.ErrorIs(t, server.Serve(listener), front.ErrServerClosed)
}

// TestShutdownForced: when patience ends, clients are cut off.
func TestShutdownForced(t *testing.T) { proxytest.EachWay(t, testShutdownForced) }

func testShutdownForced(t *testing.T, w proxytest.Way) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	started := make(chan struct{})
	cluster := proxytest.NewCluster()
	server := newServer(front.Config{}, cluster)
	cluster.Before = func(*route.Batch) { close(started); <-server.Context().Done() }
	listener := w.Listen(t)
	go server.Serve(listener)
	c := proxytest.Dial(t, listener.Addr().String())
	c.Send("SET a 1")
	<-started
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, server.Shutdown(ctx), context.DeadlineExceeded)
}

// brokenListener fails a few times, for good at last.
type brokenListener struct {
	net.Listener
	errs []error
}

func (l *brokenListener) Accept() (net.Conn, error) {
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, err
}

func TestServeSurvivesAcceptErrors(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	final := errors.New("the end")
	server := newServer(front.Config{}, proxytest.NewCluster())
	listener := &brokenListener{inner, []error{syscall.EMFILE, syscall.EMFILE, final}}
	require.ErrorIs(t, server.Serve(listener), final)
	require.NoError(t, server.Shutdown(context.Background()))
}
