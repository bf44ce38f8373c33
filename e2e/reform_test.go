//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestOneCommandAfterMemoryNodesWereRestarted: restarting them one after the other is the end of what they held, and not
// of the cluster.
func TestOneCommandAfterMemoryNodesWereRestarted(t *testing.T) {
	t.Parallel()
	c, client := startWithOneCopy(t, (*cluster.Member).Terminate)
	_, stderr, code := cluster.Run(t, nil, "ring", "reform", "--yes", "--admin", c.Nodes[0].Admin)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "c (1 keys")
	require.Contains(t, stderr, "--accept-loss")

	status, stderr, _ := cluster.Run(t, nil, "ring", "status", "--admin", c.Nodes[2].Admin)
	require.Contains(t, status, "node c must not be restarted", stderr)
	require.NotContains(t, c.Nodes[0].Log(), "the last copies", "two others had them")
	require.Contains(t, c.Nodes[1].Log(), "this node ends, and with it the last copies")
	c.Nodes[2].Terminate()
	require.Contains(t, c.Nodes[2].Log(), "this node ends, and with it the last copies")
	c.Nodes[2].Start()
	c.Nodes[2].AwaitLog("lost its state")
	stdout, stderr, code := cluster.Run(t, nil, "ring", "reform", "--admin", c.Nodes[1].Admin)
	require.Equal(t, 2, code)
	require.Contains(t, stdout, "No node holds anything that could be lost now.")
	require.Contains(t, stderr, "add --yes")
	stdout, stderr, code = cluster.Run(t, nil, "ring", "reform", "--yes", "--admin", c.Nodes[1].Admin)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "The cluster has formed again: epoch 2, 3 nodes, empty.")
	c.AwaitNodes()
	c.Proxies[0].AwaitReady()
	require.NoError(t, client.Set(t.Context(), "k", "new", 0).Err(), "through the proxy that knew the old ring")
	require.Equal(t, "new", client.Get(t.Context(), "k").Val())
	for _, m := range c.Nodes {
		m.Terminate()
		require.False(t, strings.Contains(m.Log(), "panic"))
	}
}

// TestALossThatIsAccepted: the last copies are given up, since the operator says so.
func TestALossThatIsAccepted(t *testing.T) {
	t.Parallel()
	c, client := startWithOneCopy(t, (*cluster.Member).Kill)
	stdout, stderr, code := cluster.Run(t, nil, "ring", "reform", "--yes", "--accept-loss", "--admin", c.Nodes[2].Admin)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "Given up: what is held by c (1 key")
	c.Proxies[0].AwaitReady()
	require.Equal(t, int64(0), client.Exists(t.Context(), "k").Val())
	require.NoError(t, client.Set(t.Context(), "k", "new", 0).Err())
}

// startWithOneCopy starts a cluster in memory with one key, and ends and starts two of the three nodes, which lose it. They do so together: if one came
// back first it would take its place again.
func startWithOneCopy(t *testing.T, end func(*cluster.Member)) (*cluster.Cluster, *redis.Client) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	client := connect(t, c.Proxies[0].Client)
	require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
	awaitHolds(t, c.Nodes[2], 1)
	for _, m := range c.Nodes[:2] {
		end(m)
	}
	for _, m := range c.Nodes[:2] {
		m.Start()
		m.AwaitLog("lost its state")
	}
	return c, client
}

// awaitHolds waits until a node holds so many keys.
func awaitHolds(t *testing.T, m *cluster.Member, keys int) {
	cluster.Await(t, m.Name+" holds what was written", func() bool {
		status, _ := cluster.RunJSON[struct {
			Nodes []struct {
				Name string
				Keys int
			}
		}](t, "ring", "status", "-o", "json", "--admin", m.Admin)
		for _, n := range status.Nodes {
			if n.Name == m.Node {
				return n.Keys == keys
			}
		}
		return false
	})
}
