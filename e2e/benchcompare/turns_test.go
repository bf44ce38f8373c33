package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestGuardAndBudgetMeasureBothSystems, in turns, and stop them.
func TestGuardAndBudgetMeasureBothSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("no redis-server")
	}
	t.Setenv("TMPDIR", t.TempDir())
	page := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(page, []byte(pageBegins("bench-budget")+pageEnds), 0o600))
	p := &plan{quoll: built(t), keys: 300, connections: 6, value: 64, duration: 2 * time.Second, depths: []int{16}, procs: "1", out: t.TempDir(), page: page}
	require.NoError(t, p.choose(t.Context(), redisName))

	so, err := p.guardAll(t.Context(), waiting{}, func([]standing) bool { return true })
	require.NoError(t, err)
	require.Len(t, so, len(guarded))

	all, err := p.budgetAll(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, b := range all {
		require.Positive(t, b.Redis, b)
		for _, s := range []side{b.Proxy, b.Nodes} {
			require.Positive(t, s.CPU, b)
			require.Positive(t, s.Floor, b)
			sum := 0.0
			for _, spent := range s.Stages {
				sum += spent
			}
			require.InDelta(t, s.CPU, sum, s.CPU/100, b)
			require.Positive(t, s.Stages["sockets"], b)
		}
		require.Positive(t, b.Nodes.Stages["engine"]+b.Nodes.Stages["register"], b)
		require.Zero(t, b.Proxy.Stages["engine"], b)
	}
	require.NoError(t, p.writeBudget(all))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), "| depth 16 | SET proxy | SET nodes | GET proxy | GET nodes |")
}
