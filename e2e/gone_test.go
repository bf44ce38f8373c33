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

	// What is left is an empty directory: nobody takes the node for the one that it was.
	node.Start()
	node.AwaitAlive()
	cluster.Await(t, "it says that it lost its state", func() bool {
		_, text := node.Ready()
		return strings.Contains(text, "does not vote")
	})
	_, text := node.Ready()
	require.Contains(t, text, "its data directory "+node.Data+" was empty")
	require.Contains(t, text, "is the volume mounted?")
	l = startLoad(t, c.Clients())
	l.progress(200)
	l.stop()
	l.requireNothingLost(c.Proxies[0].Client)
}
