//go:build linux

package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/compose"
	"github.com/quolldb/quoll/e2e/outcome"
)

// TestOneProxyKilled: clients of the other proxy notice nothing at all.
func TestOneProxyKilled(t *testing.T) {
	s := begin(t, compose.Config{})
	killed := s.strike("proxy1 killed", s.Proxies[0].Kill)
	killed.requireCalm()
	killed.requireNoErrors("proxy2")
	back := killed.mend(s.Proxies[0].Start)
	back.requireCalm()
	back.requireNoErrors("proxy2")
	s.end()
}

// TestRollingRestart: all nodes are restarted in order, each when the last one is back: zero lost, zero errors.
func TestRollingRestart(t *testing.T) {
	s := begin(t, compose.Config{})
	var restarts []*fault
	for _, node := range s.Nodes {
		f := s.strike(node.Name+" restarts", func() { t.Logf("%s ended after %v", node.Name, node.Stop()) })
		restarts = append(restarts, f)
		f.mend(node.Start)
	}
	restarts[len(restarts)-1].requireCalm()
	s.end()
	for _, f := range restarts {
		f.requireNoErrors()
	}
}

// TestAllNodesKilledAtOnce: when they are started again everything acknowledged is there, and nobody has to help.
func TestAllNodesKilledAtOnce(t *testing.T) {
	s := begin(t, compose.Config{})
	killed := s.strike("all nodes killed", func() { s.KillAll(s.Nodes...) })
	time.Sleep(3 * time.Second)
	back := killed.mend(func() { s.StartAll(s.Nodes...) })
	back.requireCalm()
	for _, f := range s.load.failed() {
		require.Contains(t, []string{"CLUSTERDOWN", "UNKNOWN", "TRYAGAIN", "LOADING", "NOTDONE"}, outcome.Word(f.err), "%s at %s: %v", f.command, f.proxy, f.err)
	}
	s.end()
}
