//go:build unix

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

// TestOneWayCutOfEachLink cuts every direction of every link, one after the other:
// what one process sends to another one vanishes, what comes back arrives. That is the fault that
// failure detectors take for health. Nothing stops, and nobody reads what is not true.
func TestOneWayCutOfEachLink(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Faults: true})
	members := append(append([]*cluster.Member{}, c.Nodes...), c.Proxies...)
	for _, from := range members {
		for _, to := range members {
			if from == to || testing.Short() && from != c.Nodes[0] && to != c.Nodes[0] {
				continue
			}
			t.Run(from.Name+" to "+to.Name, func(t *testing.T) {
				l := startLoad(t, c.Clients())
				l.progress(500)
				broke := l.now()
				before := c.Injected().Cut
				c.Cut(from, to)
				l.note("%s cannot send to %s", from.Name, to.Name)
				l.progress(1500)
				require.Greater(t, c.Injected().Cut, before, "the cut never took effect")
				c.Heal()
				l.note("healed")
				l.everybodyIsServed()
				l.stop()
				l.requireFewErrors(broke, reaction)
				l.requireNothingLost(c.Proxies[0].Client)
			})
		}
	}
}

// TestRingOfMajorities: each of five nodes reaches its two neighbours only, so that
// each sees a majority, and no two of them the same one.
func TestRingOfMajorities(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs the machine for itself")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 5, Proxies: 2, Node: []string{"--replicas", "5"}, Faults: true})
	l := startLoad(t, c.Clients())
	l.progress(500)
	for i, node := range c.Nodes {
		c.Cut(node, c.Nodes[(i+2)%5])
		c.Cut(node, c.Nodes[(i+3)%5])
	}
	l.note("each node reaches its neighbours only")
	l.progress(2000)
	l.everybodyIsServed()
	require.NotZero(t, c.Injected().Cut)
	c.Heal()
	l.note("healed")
	l.everybodyIsServed()
	l.stop()
	t.Logf("errors: %v", l.words())
	l.requireWords("CLUSTERDOWN", "TRYAGAIN", "LOADING", "NOTDONE", "UNKNOWN", "ERR")
	l.requireNothingLost(c.Proxies[0].Client)
}

// TestSlowReplica: what one replica says comes late, but before anybody gives it up.
// That costs nobody an error, be the replica a home or not.
func TestSlowReplica(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Faults: true})
	l := startLoad(t, c.Clients())
	l.progress(500)
	c.SetFaults(c.Nodes[2], 1, cluster.Rule{Peer: "*", Delay: "100ms", Jitter: "50ms"})
	l.note("node c is slow")
	l.progress(1500)
	require.NotZero(t, c.Injected().Delayed)
	c.Heal()
	l.everybodyIsServed()
	l.stop()
	l.requireWords()
	l.requireNothingLost(c.Proxies[0].Client)
}

// TestReplicationTwiceAndOutOfOrder: nodes hear each other's messages twice, and in
// another order than they were sent.
func TestReplicationTwiceAndOutOfOrder(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Faults: true})
	l := startLoad(t, c.Clients())
	for i, node := range c.Nodes {
		c.SetFaults(node, uint64(i), cluster.Rule{Peer: "*", Role: "node", Duplicate: 0.3, Reorder: 0.3})
	}
	l.note("replication is duplicated and reordered")
	l.progress(4000)
	injected := c.Injected()
	require.NotZero(t, injected.Duplicated)
	require.NotZero(t, injected.Reordered)
	c.Heal()
	l.everybodyIsServed()
	l.stop()
	t.Logf("frames: %+v", injected)
	l.requireWords()
	l.requireNothingLost(c.Proxies[0].Client)
}

// TestClientsThatDoNotWait: clients have less patience than the cluster needs, hang up
// and send their commands again, while the first ones are still under way.
func TestClientsThatDoNotWait(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Faults: true})
	l := startLoadOf(t, c.Clients(), loadConfig{impatient: loadClients})
	for i, node := range c.Nodes {
		c.SetFaults(node, uint64(i), cluster.Rule{Peer: "*", Delay: "5ms", Jitter: "60ms"})
	}
	l.note("every answer takes a while")
	cluster.Await(t, "commands are sent again", func() bool { return l.repeated.Load() >= 50 })
	c.Heal()
	l.everybodyIsServed()
	l.stop()
	t.Logf("%d commands were sent again; errors: %v", l.repeated.Load(), l.words())
	l.requireWords(outcome.ClientTimeOut)
	l.requireNothingLost(c.Proxies[0].Client)
}
