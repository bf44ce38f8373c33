//go:build linux

package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/compose"
	"github.com/quolldb/quoll/e2e/outcome"
)

// settled is when a minority knows that it is one: an operation takes a second at the most, and whoever waited for one that was sent
// before knows then.
const settled = calm

// TestMinorityRefusesAndSaysWhy: a proxy that is left with one node of three refuses everything, says why, and does
// nothing of it; clients of the proxy on the other side notice no more than if the node had died.
func TestMinorityRefusesAndSaysWhy(t *testing.T) {
	s := begin(t, compose.Config{})
	a, minority := s.Nodes[0], s.Proxies[0]
	left, right := []*compose.Service{a, minority}, []*compose.Service{s.Nodes[1], s.Nodes[2], s.Proxies[1]}
	parted := s.strike("a and proxy1 parted from the rest", func() { s.Part(left, right) })
	time.Sleep(time.Until(parted.set.Add(settled)))
	answered := s.load.answered(minority)
	parted.requireCalm()
	require.Equal(t, answered, s.load.answered(minority), "a minority must answer nothing")
	requireServed(t, s, s.Proxies[1])
	refused, elsewhere := 0, 0
	for _, f := range s.load.failed() {
		switch {
		case f.proxy != minority.Name:
			elsewhere++
			require.True(t, f.began.Before(parted.set.Add(reaction)), "on the majority's side: %s: %v", f.command, f.err)
		case f.began.After(parted.set.Add(settled)):
			refused++
			require.Equal(t, "CLUSTERDOWN", outcome.Word(f.err), "%s, %v after the partition: %v", f.command, f.began.Sub(parted.set), f.err)
			require.ErrorContains(t, f.err, "nothing was done", f.command)
		}
	}
	require.NotZero(t, refused)
	require.LessOrEqual(t, elsewhere, clientsPerProxy)
	t.Logf("%d commands refused by the minority, %d errors on the other side", refused, elsewhere)
	requireSaysWhy(t, minority, a)
	parted.mend(s.Heal).requireCalm()
	s.end()
}

// requireSaysWhy asks a proxy and a node that are cut off from the rest what they think of it.
func requireSaysWhy(t *testing.T, proxy, node *compose.Service) {
	t.Helper()
	ready, why := proxy.Ready()
	require.False(t, ready, "a proxy without a majority is not ready")
	require.Contains(t, why, "too few replicas")
	for _, asked := range []*compose.Service{proxy, node} {
		status, err := asked.Status()
		require.NoError(t, err)
		for _, n := range status.Nodes {
			if n.Name != node.Name {
				require.Equal(t, "unreachable", n.State, "%s about %s", asked.Name, n.Name)
			}
		}
	}
}

// requireServed checks that clients of a proxy get answers now.
func requireServed(t *testing.T, s *scenario, p *compose.Service) {
	t.Helper()
	before := s.load.answered(p)
	s.Await(p.Name+" serves", func() (bool, string) { return s.load.answered(p) > before+100, "" })
}

// TestLongPartitionHealsByItself: however long nodes did not hear of each other, which gossip alone would not survive, they find each
// other again without anybody restarting anything.
func TestLongPartitionHealsByItself(t *testing.T) {
	s := begin(t, compose.Config{})
	before := lives(t, s)
	parted := s.strike("c cut off", func() { s.Isolate(s.Nodes[2]) })
	parted.requireCalm()
	parted.requireOnlyInFlight()
	time.Sleep(time.Until(parted.set.Add(lasting(*partitionFor, 10*time.Minute, 20*time.Second))))
	parted.requireOnlyInFlight()
	healed := parted.mend(s.Heal) // waits until everybody sees everybody alive
	healed.requireCalm()
	healed.requireOnlyInFlight()
	require.Equal(t, before, lives(t, s), "nothing was restarted")
	s.end()
}

// lives tells the lives of the nodes and their processes apart.
func lives(t *testing.T, s *scenario) map[string]string {
	t.Helper()
	status, err := s.Proxies[0].Status()
	require.NoError(t, err)
	all := map[string]string{}
	for i, n := range status.Nodes {
		all[n.Name] = n.Generation + " " + s.Nodes[i].Started()
	}
	return all
}

// TestFlappingLink: a link between two nodes that comes and goes costs clients at most what is under way whenever it
// goes, and never the service.
func TestFlappingLink(t *testing.T) {
	long(t)
	s := begin(t, compose.Config{})
	a, b := s.Nodes[0], s.Nodes[1]
	const times = 8
	noticed := 0
	flapping := s.strike("the link between a and b flaps", func() {
		for range times {
			s.Part([]*compose.Service{a}, []*compose.Service{b})
			time.Sleep(700 * time.Millisecond)
			if status, err := a.Status(); err == nil && status.Node("b").State == "unreachable" {
				noticed++
			}
			s.Heal()
			time.Sleep(700 * time.Millisecond)
		}
	})
	failed := s.load.failed()
	t.Logf("%d errors %v while the link went %d times, of which a noticed %d", len(failed), s.load.errorsByWord(), times, noticed)
	require.NotZero(t, noticed)
	for _, f := range failed {
		require.Contains(t, []string{"UNKNOWN", "TRYAGAIN", "LOADING", "NOTDONE"}, outcome.Word(f.err), "%s at %s: %v", f.command, f.proxy, f.err)
	}
	require.LessOrEqual(t, len(failed), times*len(s.load.clients))
	steady := flapping.mend(s.Heal)
	steady.requireCalm()
	steady.requireNoErrorsSince()
	s.end()
}

// TestTenPercentLoss: a node whose network loses every tenth packet costs clients some speed, and not a
// single answer that is wrong; hardly any command fails.
func TestTenPercentLoss(t *testing.T) {
	long(t)
	s := begin(t, compose.Config{})
	before := s.load.done.Load()
	lossy := s.strike("a loses 10 %", func() { s.Drop(s.Nodes[0], 0.1) })
	time.Sleep(15 * time.Second)
	answered, failed := s.load.done.Load()-before, s.load.failed()
	t.Logf("%d commands answered, %d errors %v", answered, len(failed), s.load.errorsByWord())
	for _, f := range failed {
		require.Contains(t, []string{"UNKNOWN", "TRYAGAIN", "LOADING", "NOTDONE"}, outcome.Word(f.err), "%s at %s: %v", f.command, f.proxy, f.err)
	}
	require.Less(t, len(failed), int(answered/100), "one command in a hundred, at the most")
	steady := lossy.mend(s.Heal)
	steady.requireCalm()
	steady.requireNoErrorsSince()
	s.end()
}
