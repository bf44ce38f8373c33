package front_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/proxy"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newServer returns a server with the sessions of a proxy.
func newServer(cfg front.Config, cluster route.Cluster) *proxy.Server {
	return proxy.NewServer(proxy.ServerConfig{Clients: cfg}, cluster)
}

// startServer serves the cluster on loopback until the test ends.
func startServer(t testing.TB, cfg front.Config, cluster route.Cluster) (*proxy.Server, string) {
	t.Helper()
	return serve(t, proxytest.ByFront, cfg, cluster)
}

func serve(t testing.TB, w proxytest.Way, cfg front.Config, cluster route.Cluster) (*proxy.Server, string) {
	t.Helper()
	server := newServer(cfg, cluster)
	return server, w.Serve(t, server, front.ErrServerClosed)
}

func eventually(t testing.TB, is func() bool, what string, args ...any) {
	t.Helper()
	require.Eventually(t, is, 5*time.Second, 2*time.Millisecond, append([]any{what}, args...)...)
}
