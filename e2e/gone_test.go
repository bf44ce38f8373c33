//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestANodeWhoseFilesAreDeletedStopsVoting: it could go on, and all that it acknowledges would be gone when it ends.
func TestANodeWhoseFilesAreDeletedStopsVoting(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a node comes back without its state")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: "badger"})
	l := startLoad(t, c.Clients())
	l.progress(200)
	node := c.Nodes[0]
	entries, err := os.ReadDir(node.Data)
	require.NoError(t, err)
	for _, entry := range entries {
		require.NoError(t, os.RemoveAll(filepath.Join(node.Data, entry.Name())))
	}
	cluster.Await(t, "the node notices", func() bool {
		ready, text := node.Ready()
		return !ready && strings.Contains(text, "was deleted or replaced while it was in use")
	})
	require.True(t, strings.Contains(node.Log(), "this node does not vote any more"))
	l.progress(500)
	l.stop()
	l.requireNothingLost(c.Proxies[0].Client)
	node.Signal(syscall.SIGTERM)
	require.NotZero(t, node.ExitCode(20*time.Second), "it did not end in order")

	// What is left is an empty directory: nobody takes the node for the one that it was, but it takes its place again.
	node.Start()
	cluster.Await(t, "it has its place again", func() bool {
		history, _, _ := cluster.Run(t, nil, "ring", "history", "--admin", c.Nodes[1].Admin)
		return strings.Contains(history, "a lost its state and takes its place again")
	})
	require.Contains(t, node.Log(), "its data directory "+node.Data+" was empty")
	stdout, stderr, code := cluster.RunFor(t, 3*time.Minute, nil, "ring", "wait", "--admin", c.Nodes[1].Admin)
	require.Zero(t, code, stdout+stderr)
	node.AwaitReady()
	l = startLoad(t, c.Clients())
	l.progress(200)
	l.stop()
	l.requireNothingLost(c.Proxies[0].Client)
}
