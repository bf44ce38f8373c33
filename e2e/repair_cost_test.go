//go:build unix

package e2e

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/bench"
)

var repairCost = flag.Int("repair-cost", 0, "how many keys a node misses in TestRepairCost, which takes minutes; 0: it is skipped")

// repairWithin bounds how long a node may differ in TestRepairCost, for each key that it missed.
const repairWithin = 2 * time.Millisecond

// TestRepairCost shows what it costs to compare replicas that do not differ, and what clients notice while every
// key of a node is written again. It judges results, not times: these are for people to read.
func TestRepairCost(t *testing.T) {
	if *repairCost <= 0 {
		t.Skip("it measures: give -repair-cost 1000000, or make bench-repair")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: "badger", Fsync: "interval=100ms"})
	g := repairClients{t: t, address: c.Proxies[0].Client, keys: *repairCost}
	g.load()
	<-time.After(15 * time.Second) // until what was written has settled
	before := spentBy(t, c.Nodes)
	<-time.After(time.Minute)
	t.Logf("%d keys, nothing differs and nobody asks, for a minute: %s", g.keys, spentBy(t, c.Nodes).since(before))

	for range 3 {
		g.window("all nodes are there")
	}
	victim := c.Nodes[2]
	victim.Kill()
	g.load()
	for range 2 {
		g.window("one is not there")
	}
	victim.Start()
	began := time.Now()
	for deadline := began.Add(time.Minute + repairWithin*time.Duration(g.keys)); !repairedAll(t, c.Nodes, began); {
		require.True(t, time.Now().Before(deadline), "the node has not caught up: %v", gauges(t, c.Nodes))
		g.window("it is back, and is repaired")
	}
	t.Logf("%s has caught up %v after its start", victim.Name, time.Since(began).Round(time.Second))
	for range 3 {
		g.window("all nodes are there again")
	}
	awaitConverged(t, c.Nodes, time.Now().Add(convergeWithin))
}

// repairedAll reports whether no node knows of anything that another one has missed, and each has compared
// what it holds with both others since a moment.
func repairedAll(t *testing.T, nodes []*cluster.Member, since time.Time) bool {
	for _, values := range gauges(t, nodes) {
		older := values["repair_last_pass_timestamp_seconds"] - float64(time.Now().Unix()) // a sum of two
		if values["voting"] != 1 || values["hints"]+values["repair_slots_differing"] > 0 || older < float64(since.Unix()) {
			return false
		}
	}
	return true
}

// repairClients are as many clients as quoll bench has, on some keys.
type repairClients struct {
	t       *testing.T
	address string
	keys    int
}

// load writes every key, and what is new in it.
func (g *repairClients) load() {
	g.run(bench.Options{Workload: bench.Load, Connections: 16, Depth: 64, Duration: time.Hour})
}

// window logs what clients notice in five seconds.
func (g *repairClients) window(when string) {
	report := g.run(bench.Options{Workload: bench.Mixed, NoLoad: true, SetFraction: 0.5, Connections: 50, Depth: 1, Duration: 5 * time.Second})
	for _, row := range report.Rows {
		if row.Op != "all" {
			g.t.Logf("%-28s %s %7.0f/s, p50 %5.2f ms, p99 %6.2f ms", when, row.Op, row.Throughput, row.P50/1000, row.P99/1000)
		}
	}
}

func (g *repairClients) run(opt bench.Options) bench.Report {
	g.t.Helper()
	opt.Addresses, opt.Keys, opt.KeySize, opt.ValueSize, opt.Trials, opt.Distribution = []string{g.address}, g.keys, 16, 64, 1, bench.Uniform
	opt.Commands, opt.Fields, opt.FieldSize = []string{"set", "get"}, 1, 8 // a field of no hash
	require.Empty(g.t, opt.Faults())
	b, err := bench.Open(g.t.Context(), opt)
	require.NoError(g.t, err)
	defer b.Close()
	report, err := b.Run(g.t.Context())
	require.NoError(g.t, err)
	errors, missing, _ := report.Total()
	require.Zero(g.t, errors, report.LastError)
	require.Zero(g.t, missing)
	return report
}

// spent is what processes have used since their start.
type spent struct{ seconds, sent, compared float64 }

func spentBy(t *testing.T, nodes []*cluster.Member) (all spent) {
	t.Helper()
	for _, m := range nodes {
		values, err := metricsOf(t, m)
		require.NoError(t, err)
		all.seconds += values["process_cpu_seconds_total"]
		all.sent += values["sent_bytes_total"]
		all.compared += values["repair_listed_total"]
	}
	return all
}

func (s spent) since(before spent) string {
	return fmt.Sprintf("%.2f s of CPU and %.0f KiB sent by all nodes together, %.0f versions compared",
		s.seconds-before.seconds, (s.sent-before.sent)/1024, s.compared-before.compared)
}
