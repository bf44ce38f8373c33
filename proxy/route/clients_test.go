package route_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestManyClientsOfACoordinator: what is above a coordinator gives it rounds, which have parts. Clients get exactly their replies, in order.
func TestManyClientsOfACoordinator(t *testing.T) {
	server := proxy.NewServer(proxy.ServerConfig{}, route.StartForTest(t))
	addr := proxytest.ByFront.Serve(t, server, proxy.ErrServerClosed)
	proxytest.PlayAll(t, addr, false)
	require.Eventually(t, func() bool { return server.Stats().Clients.Load() == 0 }, 5*time.Second, time.Millisecond)
}
