//go:build unix

package e2e

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestStrangersFillNoLog: whatever comes to a port, some lines tell of it and one says how many more there were.
func TestStrangersFillNoLog(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Proxy: []string{"--password", "sesame"}})
	node, proxy := c.Nodes[0], c.Proxies[0]
	before := strings.Count(node.Log(), "\n")
	conn, err := net.Dial("udp", node.Gossip)
	require.NoError(t, err)
	defer conn.Close()
	for i := range 20_000 {
		// Refused by a full buffer is as good as ignored.
		_, _ = fmt.Fprintf(conn, "%c%d is no gossip", byte(i), i)
	}
	page := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n\r\nFLUSHALL\r\nSET pwned yes\r\n"
	for range 200 {
		for _, port := range []string{node.Gossip, node.Peer, node.Admin, proxy.Client, proxy.Admin} {
			stranger, err := net.Dial("tcp", port)
			require.NoError(t, err)
			_, err = stranger.Write([]byte(page))
			require.NoError(t, err)
			_ = stranger.Close()
		}
	}
	node.AwaitReady()
	proxy.AwaitReady()
	for _, m := range c.Nodes {
		_, replicas := m.Locate("pwned")
		require.Len(t, replicas, 3)
		for _, r := range replicas {
			require.False(t, r.Present, "a web page wrote")
		}
	}
	node.Terminate()
	proxy.Terminate()
	require.True(t, strings.Contains(node.Log(), " more in "), "nobody would know how many there were")
	require.Less(t, strings.Count(node.Log(), "\n")-before, 200)
	require.Less(t, strings.Count(proxy.Log(), "\n"), 200)
}
