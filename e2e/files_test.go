//go:build unix

package e2e

import (
	"bufio"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestClientsLeaveDescriptorsForTheRest: clients that take all that they can get are refused in words, and the admin port and the links
// to nodes go on.
func TestClientsLeaveDescriptorsForTheRest(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, cluster.Config{Nodes: 1, Proxies: 1, Node: []string{"--replicas", "1"}})
	proxy := c.Proxies[0]
	proxy.Under = []string{"sh", "-c", `ulimit -n 200 && exec "$@"`, "sh"}
	c.Nodes[0].Start()
	proxy.Start()
	proxy.AwaitReady()
	require.Contains(t, proxy.Log(), "--max-clients is 10000, but this process may open 200 files only")

	const most = 100
	answers := map[string]int{}
	for range 2 * most {
		conn, err := net.Dial("tcp", proxy.Client)
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = conn.Write([]byte("PING\r\n"))
		require.NoError(t, err)
		answer, _ := bufio.NewReader(conn).ReadString('\n')
		answers[answer]++
	}
	require.Equal(t, most, answers["+PONG\r\n"], answers)
	require.Equal(t, most, answers["-ERR max number of clients reached\r\n"], answers)
	ready, text := proxy.Ready()
	require.True(t, ready, text)
	c.Nodes[0].Terminate() // the link has to be made again
	c.Nodes[0].Start()
	c.Nodes[0].AwaitReady()
	proxy.AwaitReady()
	require.NotContains(t, proxy.Log(), "too many open files")
}
