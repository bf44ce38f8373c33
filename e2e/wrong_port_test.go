//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestAWrongPortIsNamed: who gives a proxy or a node another port than the peer port of a node is told what is there.
func TestAWrongPortIsNamed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits for what is said after ten seconds")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Node: []string{"--replicas", "1"}})
	admin, client, nobody := c.Nodes[0].Admin, c.Proxies[0].Client, cluster.FreeAddress(t)
	lost := cluster.NewProcess(t, "lost proxy", "proxy", "--listen", cluster.FreeAddress(t), "--admin", cluster.FreeAddress(t), "--nodes", strings.Join([]string{admin, client, nobody}, ","))
	lost.Start()
	lost.AwaitLog("speaks HTTP: is this the admin port of a node?")
	lost.AwaitLog("speaks Redis' protocol: is this the client port of a proxy, or a Redis?")
	lost.AwaitLog("clients are told to wait (-LOADING)")
	waits := lost.Log()[strings.Index(lost.Log(), "clients are told to wait"):]
	for _, want := range []string{admin + ": ", "speaks HTTP", client + ": ", "speaks Redis' protocol", nobody + ": connection refused"} {
		require.Contains(t, waits, want)
	}

	node := cluster.NewProcess(t, "lost node", "node", "--name", "x", "--peer", cluster.FreeAddress(t), "--gossip", cluster.FreeAddress(t), "--admin", cluster.FreeAddress(t),
		"--replicas", "1", "--initial-cluster", "x="+cluster.FreeAddress(t)+",y="+admin+",z="+nobody)
	node.Start()
	node.AwaitLog("the cluster has not formed yet")
	waits = node.Log()[strings.Index(node.Log(), "the cluster has not formed yet"):]
	require.Contains(t, waits, "y at "+admin+" (wire: protocol error: what answers there speaks HTTP: is this the admin port of a node?")
	require.Contains(t, waits, "z at "+nobody)
}
