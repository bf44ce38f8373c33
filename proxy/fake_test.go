package proxy

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startServer serves the cluster on loopback until the test ends.
func startServer(t testing.TB, cfg ServerConfig, cluster route.Cluster) (*Server, string) {
	t.Helper()
	return serve(t, proxytest.ByFront, cfg, cluster)
}

func serve(t testing.TB, w proxytest.Way, cfg ServerConfig, cluster route.Cluster) (*Server, string) {
	t.Helper()
	server := NewServer(cfg, cluster)
	return server, w.Serve(t, server, ErrServerClosed)
}

func eventually(t testing.TB, is func() bool, what string, args ...any) {
	t.Helper()
	require.Eventually(t, is, 5*time.Second, 2*time.Millisecond, append([]any{what}, args...)...)
}

// heapInUse returns the bytes of reachable objects. It is signed: what an earlier
// test left behind may be freed between two readings, and their difference is then
// below zero. The second collection empties what the first left in the pools.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
