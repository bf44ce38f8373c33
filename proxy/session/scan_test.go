package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

func TestScan(t *testing.T) { proxytest.EachWay(t, testScan) }

func testScan(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	for _, key := range []string{"a1", "a2", "b1", "{x}1", "{x}2", "{x}3"} {
		cluster.Data[key] = "v"
	}
	_, addr := serve(t, w, Config{OutputLimit: 1000}, cluster)
	c := proxytest.Dial(t, addr)
	require.Equal(t, "*2\r\n$1\r\n0\r\n*2\r\n$2\r\na1\r\n$2\r\na2\r\n", c.Do("SCAN 0 MATCH a* COUNT 1000 TYPE STRING"))
	require.Equal(t, "*2\r\n$1\r\n0\r\n*0\r\n", c.Do("SCAN 0 COUNT 1000 TYPE hash"))
	require.Equal(t, "*2\r\n$1\r\n0\r\n*0\r\n", c.Do("SCAN 18446744073709551615"))
	require.Equal(t, "*3\r\n$4\r\n{x}1\r\n$4\r\n{x}2\r\n$4\r\n{x}3\r\n", c.Do("KEYS {x}?"))
	cluster.Data[string(make([]byte, 2000))] = "v"
	require.Equal(t, "-"+errKeysTooLarge.Error()+"\r\n", c.Do("KEYS *"))
	require.Equal(t, ":7\r\n", c.Do("DBSIZE"))
	require.Equal(t, "+OK\r\n", c.Do("FLUSHALL ASYNC"))
	require.Equal(t, "$-1\r\n", c.Do("RANDOMKEY"))
	cluster.Err = route.ErrNoMajority
	for _, command := range []string{"SCAN 0", "KEYS *", "DBSIZE", "FLUSHDB", "RANDOMKEY"} {
		require.Equal(t, string(route.AppendReply(nil, route.ErrNoMajority)), c.Do(command))
	}
	require.Contains(t, c.Do("INFO"), "# Keyspace\r\n")
}
