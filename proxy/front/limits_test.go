package front_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

func TestPanicEndsOneConnection(t *testing.T) { proxytest.EachWay(t, testPanicEndsOneConnection) }

func testPanicEndsOneConnection(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	cluster.Before = func(b *route.Batch) {
		if string(b.Ops[0].Req.Args[1]) == "bug" {
			panic("a bug")
		}
	}
	server, addr := serve(t, w, front.Config{}, cluster)
	other := proxytest.Dial(t, addr)
	c := proxytest.Dial(t, addr)
	c.Send("PING", "GET bug", "GET fine")
	require.Equal(t, "+PONG\r\n-UNKNOWN internal error; the connection is closed. The proxy's log has the details\r\n", c.Rest())
	require.Equal(t, "$-1\r\n", other.Do("GET fine"))
	require.EqualValues(t, 1, server.Stats().Panics.Load())
}

func TestMaxClients(t *testing.T) { proxytest.EachWay(t, testMaxClients) }

func testMaxClients(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, front.Config{MaxClients: 2}, proxytest.NewCluster())
	a, b := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Equal(t, "+PONG\r\n", a.Do("PING"))
	require.Equal(t, "+PONG\r\n", b.Do("PING"))
	require.Equal(t, "-ERR max number of clients reached\r\n", proxytest.Dial(t, addr).Rest())
	a.Close()
	require.Eventually(t, func() bool { return server.Stats().Clients.Load() == 1 }, 5*time.Second, time.Millisecond)
	require.Equal(t, "+PONG\r\n", proxytest.Dial(t, addr).Do("PING"))
	require.EqualValues(t, 1, server.Stats().Rejected.Load())
}

// TestSlowReader: a client that asks and never reads is disconnected, and no more
// waits for it than was asked in one batch.
func TestSlowReader(t *testing.T) { proxytest.EachWay(t, testSlowReader) }

func testSlowReader(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	cluster.Data["big"] = strings.Repeat("v", 4<<20)
	server, addr := serve(t, w, front.Config{WriteTimeout: 50 * time.Millisecond}, cluster)
	c := proxytest.Dial(t, addr)
	for server.Stats().SlowReaders.Load() == 0 {
		if _, err := c.Write([]byte("GET big\r\nGET big\r\n")); err != nil {
			break
		}
	}
	require.Eventually(t, func() bool { return server.Stats().SlowReaders.Load() == 1 && server.Stats().Clients.Load() == 0 },
		5*time.Second, time.Millisecond)
}

func TestIdleTimeout(t *testing.T) { proxytest.EachWay(t, testIdleTimeout) }

func testIdleTimeout(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, front.Config{IdleTimeout: 20 * time.Millisecond}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	require.Equal(t, "+PONG\r\n", c.Do("PING"))
	require.Empty(t, c.Rest())
}

// TestSlowloris: many clients that each declare a lot and send little cost little.
func TestSlowloris(t *testing.T) { proxytest.EachWay(t, testSlowloris) }

func testSlowloris(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, front.Config{}, proxytest.NewCluster())
	before := heapInUse()
	const clients = 50
	for range clients {
		c := proxytest.Dial(t, addr)
		_, err := c.Write([]byte("*1000000\r\n$3\r\nSET\r\n$60000000\r\nab"))
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return server.Stats().Clients.Load() == clients }, 5*time.Second, time.Millisecond)
	require.Less(t, heapInUse()-before, int64(clients*200<<10))
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
