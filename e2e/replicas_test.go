//go:build unix

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestAWrongNumberOfReplicasEndsTheNode: it says what is wrong, and does not wait for ever.
func TestAWrongNumberOfReplicasEndsTheNode(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, cluster.Config{Nodes: 3, Node: []string{"--replicas", "3"}})
	wrong := c.Nodes[1]
	right := wrong.Args
	wrong.Args = append(append([]string{}, right...), "--replicas", "2")
	for _, m := range c.Nodes {
		m.Start()
	}
	require.Equal(t, 2, wrong.ExitCode(20*time.Second))
	require.Contains(t, wrong.Log(), "quoll: replicas: is 2 here, but 3 on node ")
	wrong.Args = right
	wrong.Start()
	c.AwaitNodes()

	_, stderr, code := cluster.Run(t, nil, append(append([]string{}, right...), "--replicas", "4")...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "replicas: 4 replicas need as many nodes, but --initial-cluster names 3")
}
