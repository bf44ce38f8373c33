//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// Nodes that are not who they think they are: the cluster and they say so, and nothing else comes of it.

// ringNow is what the cluster knows of the ring, for comparing.
func ringNow(t *testing.T, m *cluster.Member) string {
	t.Helper()
	stdout, stderr, code := cluster.Run(t, nil, "ring", "history", "--json", "--admin", m.Admin)
	require.Zero(t, code, stderr)
	return stdout
}

// TestANodeThatWasRemovedComesBack, with its data or without.
func TestANodeThatWasRemovedComesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole node's share moves")
	}
	t.Parallel()
	for _, engine := range []string{"memory", cluster.OnDisk()} {
		t.Run(engine, func(t *testing.T) {
			c := cluster.Start(t, cluster.Config{Nodes: 4, Proxies: 1, Engine: engine})
			l := startLoad(t, c.Clients())
			l.progress(200)
			admin, d := []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, c.Nodes[3]
			d.Kill()
			for _, line := range []string{"ring plan leave d", "ring commit", "ring wait --timeout 2m"} {
				stdout, stderr, code := cluster.RunFor(t, 3*time.Minute, admin, strings.Fields(line)...)
				require.Zero(t, code, "%s: %s%s", line, stdout, stderr)
			}
			before := ringNow(t, c.Nodes[0])

			d.Start()
			for _, m := range c.Nodes[:3] {
				m.AwaitLog("a node has come that is no member of the ring any more")
			}
			cluster.Await(t, "it knows itself", func() bool {
				ready, text := d.Ready()
				return !ready && strings.Contains(text, "it has left")
			})
			l.progress(200)
			l.stop()
			l.requireNothingLost(c.Proxies[0].Client)
			require.Equal(t, before, ringNow(t, c.Nodes[0]))
			require.Equal(t, before, ringNow(t, d), "it has heard how it is now")
		})
	}
}

// TestACopyOfANodesDisk: a second process of one identity, which the others reach by the address of the first.
func TestACopyOfANodesDisk(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: cluster.OnDisk()})
	l := startLoad(t, c.Clients())
	l.progress(200)
	b, data := c.Nodes[1], filepath.Join(t.TempDir(), "copy")
	b.Terminate()
	require.NoError(t, os.CopyFS(data, os.DirFS(b.Data)))
	b.Start()
	b.AwaitReady()
	before := ringNow(t, c.Nodes[0])

	admin := cluster.FreeAddress(t)
	second := cluster.NewProcess(t, "copy of b", "node", "--name", "b", "--peer", cluster.FreeAddress(t), "--gossip", cluster.FreeAddress(t), "--admin", admin,
		"--initial-cluster", c.Initial, "--engine", cluster.OnDisk(), "--data", data)
	second.Start()
	second.AwaitLog("is its data directory a copy?")
	for _, m := range []*cluster.Member{c.Nodes[0], c.Nodes[2]} {
		m.AwaitLog("is its data directory a copy?")
	}
	l.progress(500)
	l.stop()
	l.requireNothingLost(c.Proxies[0].Client)
	require.Equal(t, before, ringNow(t, c.Nodes[0]))
	b.AwaitReady()
}

// TestSwappedAddresses: two nodes come back, each where the other was. Clients are refused what has no majority, and never answered by the wrong one; told where
// its nodes are the cluster has all its data.
func TestSwappedAddresses(t *testing.T) {
	if testing.Short() {
		t.Skip("clients wait for an outage of ten seconds")
	}
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: cluster.OnDisk()})
	l := startLoadOf(t, c.Clients(), loadConfig{patient: true})
	l.progress(500)
	a, b, d := c.Nodes[0], c.Nodes[1], c.Nodes[2]
	b.Terminate()
	d.Terminate()
	swap := strings.NewReplacer(b.Peer, d.Peer, d.Peer, b.Peer)
	for _, m := range []*cluster.Member{b, d} { // they listen where the other did, and nobody knows
		i := argument(m, "--peer")
		m.Args[i] = swap.Replace(m.Args[i])
		m.Start()
	}
	a.AwaitLog("node b was expected at " + b.Peer + ", but c answers there")
	cluster.Await(t, "clients are refused", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.failures) > 20
	})

	for _, m := range c.Nodes {
		m.Terminate()
		i := argument(m, "--initial-cluster")
		m.Args[i] = swap.Replace(m.Args[i])
	}
	c.StartAll()
	l.everybodyIsServed()
	l.stop()
	l.requireNothingLost(c.Proxies[0].Client)
}

// argument is the index of a flag's value among the arguments of a process.
func argument(m *cluster.Member, flag string) int {
	for i, arg := range m.Args[:len(m.Args)-1] {
		if arg == flag {
			return i + 1
		}
	}
	panic("no " + flag)
}
