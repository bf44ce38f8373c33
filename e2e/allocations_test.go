//go:build unix

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/bench"
)

// TestHotPathAllocations counts what the processes allocate for each command of a long run of pipelines: next to
// nothing.
func TestHotPathAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("short runs allocate what long ones use again")
	}
	const commands = 300_000
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	g := repairClients{t: t, address: c.Proxies[0].Client, keys: 10_000}
	g.load()
	for _, v := range []struct {
		op          string
		setFraction float64
		proxy, node float64 // bounds
	}{{"GET", 0, 0.1, 0.1}, {"SET", 1, 0.1, 0.1}} {
		run := func() {
			g.run(bench.Options{Workload: bench.Mixed, NoLoad: true, SetFraction: v.setFraction, Connections: 50, Depth: 16, Count: commands, Duration: time.Hour})
		}
		run() // what is used again has been allocated
		proxy, nodes := allocations(t, c.Proxies), allocations(t, c.Nodes)
		run()
		proxy, nodes = (allocations(t, c.Proxies)-proxy)/commands, (allocations(t, c.Nodes)-nodes)/commands/3
		t.Logf("%s: %.3f allocations in the proxy and %.3f in each node", v.op, proxy, nodes)
		require.LessOrEqual(t, proxy, v.proxy, v.op)
		require.LessOrEqual(t, nodes, v.node, v.op)
	}
}

// allocations returns how many objects processes have allocated so far.
func allocations(t *testing.T, members []*cluster.Member) (sum float64) {
	t.Helper()
	for _, m := range members {
		values, err := metricsOf(t, m)
		require.NoError(t, err)
		require.Positive(t, values["go_memstats_mallocs_total"])
		sum += values["go_memstats_mallocs_total"]
	}
	return sum
}
