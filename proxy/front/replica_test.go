package front_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestReplicaPort: its connections say that they are its own, and count as all others do.
func TestReplicaPort(t *testing.T) {
	server := newServer(front.Config{MaxClients: 2}, proxytest.NewCluster())
	usual := proxytest.ByFront.Listen(t)
	served := proxytest.ByFront.ServeOn(t, server, usual)
	replica := proxytest.ByFront.Listen(t)
	ended := make(chan error, 1)
	go func() { ended <- server.ServeReplica(replica, nil) }()

	a, b := proxytest.Dial(t, usual.Addr().String()), proxytest.Dial(t, replica.Addr().String())
	require.Equal(t, "+PONG\r\n", a.Do("PING"))
	require.Equal(t, "+PONG\r\n", b.Do("PING"))
	for _, conn := range server.Conns() {
		require.Equal(t, conn.LocalAddr().String() == replica.Addr().String(), conn.AtReplica())
	}
	require.Equal(t, "-ERR max number of clients reached\r\n", proxytest.Dial(t, replica.Addr().String()).Rest())
	require.NoError(t, server.Shutdown(context.Background()))
	require.ErrorIs(t, <-ended, front.ErrServerClosed)
	require.ErrorIs(t, <-served, front.ErrServerClosed)
}
