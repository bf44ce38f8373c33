package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestParametersOfTheClusterAreThoseOfEachProxy, and CONFIG REWRITE of one does not write them down.
func TestParametersOfTheClusterAreThoseOfEachProxy(t *testing.T) {
	cluster := proxytest.NewCluster().KeepInMemory()
	var given []Parameter
	_, first := startServer(t, Config{Rewrite: func(changed []Parameter) error { given = changed; return nil }}, cluster)
	_, second := startServer(t, Config{}, cluster)
	one, other := proxytest.Dial(t, first), proxytest.Dial(t, second)
	require.Equal(t, "+OK\r\n", one.Do("CONFIG SET maxmemory 1gb maxmemory-policy allkeys-lfu timeout 77"))
	require.Equal(t, "*2\r\n$9\r\nmaxmemory\r\n$10\r\n1073741824\r\n", other.Do("CONFIG GET maxmemory"))
	require.Contains(t, other.Do("INFO memory"), "maxmemory_policy:allkeys-lfu\r\n")
	require.Equal(t, "*2\r\n$7\r\ntimeout\r\n$1\r\n0\r\n", other.Do("CONFIG GET timeout"))
	require.Equal(t, "+OK\r\n", one.Do("CONFIG REWRITE"))
	require.Equal(t, []Parameter{{"timeout", "77"}}, given)

	require.Equal(t, "+OK\r\n", one.Do("MULTI"))
	require.Equal(t, "+QUEUED\r\n", one.Do("CONFIG SET maxmemory 0"))
	require.Equal(t, "*1\r\n+OK\r\n", one.Do("EXEC"))
	require.Contains(t, one.Do("INFO memory"), "maxmemory:0\r\n")
}

// TestParametersThatCannotBeShared: the cluster's error is the reply, and nothing is changed, neither there nor here.
func TestParametersThatCannotBeShared(t *testing.T) {
	cluster := proxytest.NewCluster().KeepInMemory()
	_, addr := startServer(t, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	cluster.UsersErr = route.Refuse("ERR no majority")
	require.Equal(t, "-ERR no majority\r\n", c.Do("CONFIG SET timeout 5 maxmemory 1gb"))
	require.Equal(t, "*2\r\n$7\r\ntimeout\r\n$1\r\n0\r\n", c.Do("CONFIG GET timeout"))
	require.Equal(t, "*2\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n", c.Do("CONFIG GET maxmemory"))
	require.Equal(t, "+OK\r\n", c.Do("CONFIG SET timeout 5"), "that is this proxy's")
}

// TestNodesOnDiskHaveNoLimitOfMemory: there it may be set to what it is.
func TestNodesOnDiskHaveNoLimitOfMemory(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", c.Do("CONFIG SET maxmemory 0 maxmemory-policy NoEviction maxmemory-samples 5"))
	for _, line := range []string{"maxmemory 100mb", "maxmemory-policy allkeys-lru", "lfu-decay-time 2"} {
		require.Contains(t, c.Do("CONFIG SET "+line), "- no node that answers keeps its data in memory: nodes on disk evict nothing, and --max-disk bounds what they take")
	}
	require.Contains(t, c.Do("CONFIG SET maxmemory x"), "argument must be a memory value")
}
