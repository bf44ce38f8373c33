//go:build unix

package e2e

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/bench"
	"github.com/quolldb/quoll/ring/change"
)

var (
	moveCost     = flag.Int("move-cost", 0, "how many keys of 1 KiB the ring has in TestMoveCost; 0: it is skipped")
	moveProfiles = flag.String("move-profiles", "", "the directory for CPU profiles of its nodes while slots move; empty: none")
)

// moveRest is how long clients are measured before slots move, and settle how long a cluster is left alone before that.
const moveRest, settle = 15 * time.Second, 3 * time.Second

// TestMoveCost shows what clients notice while a fourth node joins three, and how long that takes, compared with what the default rate would allow. It judges
// results, not times: these are for people to read.
func TestMoveCost(t *testing.T) {
	if *moveCost <= 0 {
		t.Skip("it measures: give -move-cost 200000, or make bench-move")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: "memory"})
	g := moveClients{t: t, address: c.Proxies[0].Client, keys: *moveCost}
	cluster.Await(t, "all keys are written", func() bool { // a machine that is very busy refuses some
		report := g.run(t.Context(), bench.Options{Workload: bench.Load, Connections: 16, Depth: 64, Duration: time.Hour})
		errors, _, _ := report.Total()
		return errors == 0
	})
	d := c.Join("d")
	d.Start()
	ring := func(args ...string) {
		_, stderr, code := cluster.RunFor(t, 10*time.Minute, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, append([]string{"ring"}, args...)...)
		require.Zero(t, code, stderr)
	}
	cluster.Await(t, "d can be planned", func() bool {
		_, _, code := cluster.Run(t, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, "ring", "plan", "join", "d")
		return code == 0
	})

	<-time.After(settle)
	rest := g.measure(t.Context(), "at rest", moveRest)
	before := spentBy(t, c.Nodes)
	first, _ := ringStatus(t, c.Nodes[0].Admin)
	ctx, moved := context.WithCancel(t.Context())
	var moving [2]time.Duration
	var clients sync.WaitGroup
	clients.Go(func() { moving = g.measure(ctx, "while slots move", time.Hour) })
	profiled := g.profile(c.Nodes)
	began := time.Now()
	ring("commit")
	ring("wait", "--timeout", "10m")
	took := time.Since(began)
	moved()
	clients.Wait()
	profiled()
	values, err := metricsOf(t, d)
	require.NoError(t, err)
	bytes := values["data_bytes"]
	require.Positive(t, bytes)
	atRate := time.Duration(bytes / change.DefaultRate * float64(time.Second))
	t.Logf("%.0f MiB in %.1f s, where the default rate takes %.1f s: %.2f times that", bytes/(1<<20), took.Seconds(), atRate.Seconds(), float64(took)/float64(atRate))
	t.Logf("p50 %.2f times, p99 %.2f times that at rest", float64(moving[0])/float64(rest[0]), float64(moving[1])/float64(rest[1]))
	last, _ := ringStatus(t, c.Nodes[0].Admin)
	t.Logf("%d versions of the ring; %s", last.Epoch-first.Epoch, spentBy(t, c.Nodes).since(before))
}

// moveClients are four clients that wait for each answer, as those of quoll verify do.
type moveClients struct {
	t       *testing.T
	address string
	keys    int
}

// measure logs what clients notice until some time is over, or ctx ends, and returns the median and the 99th percentile.
func (g *moveClients) measure(ctx context.Context, when string, d time.Duration) (p [2]time.Duration) {
	report := g.run(ctx, bench.Options{Workload: bench.Mixed, NoLoad: true, SetFraction: 0.5, Connections: 4, Depth: 1, Duration: d})
	errors, missing, _ := report.Total()
	g.t.Logf("%-18s %d errors, %d keys missing %s", when, errors, missing, report.LastError)
	for _, row := range report.Rows {
		g.t.Logf("%-18s %-4s %7.0f/s, p50 %5.2f ms, p99 %6.2f ms, p99.9 %6.2f ms, longest %6.1f ms", when, row.Op, row.Throughput, row.P50/1000, row.P99/1000, row.P999/1000, row.Max/1000)
		if row.Op == "all" {
			p = [2]time.Duration{time.Duration(row.P50 * 1000), time.Duration(row.P99 * 1000)}
		}
	}
	return p
}

func (g *moveClients) run(ctx context.Context, opt bench.Options) bench.Report {
	opt.Addresses, opt.Keys, opt.KeySize, opt.ValueSize, opt.Trials, opt.Distribution = []string{g.address}, g.keys, 16, 1024, 1, bench.Uniform
	opt.Commands, opt.Fields, opt.FieldSize = []string{"set", "get"}, 1, 8 // a field of no hash
	require.Empty(g.t, opt.Faults())
	b, err := bench.Open(g.t.Context(), opt)
	require.NoError(g.t, err)
	defer b.Close()
	report, err := b.Run(ctx)
	require.NoError(g.t, err)
	return report
}

// profile takes CPU profiles of nodes for ten seconds, if it was asked for them. What it returns waits for them.
func (g *moveClients) profile(nodes []*cluster.Member) (wait func()) {
	var profiles sync.WaitGroup
	for _, m := range nodes {
		if *moveProfiles == "" {
			continue
		}
		profiles.Go(func() {
			err := adminGet(g.t, m, "/debug/pprof/profile?seconds=10", func(body io.Reader) error {
				f, err := os.Create(filepath.Join(*moveProfiles, fmt.Sprintf("%s.pprof", m.Node)))
				if err != nil {
					return err
				}
				defer f.Close()
				_, err = io.Copy(f, body)
				return err
			})
			if err != nil {
				g.t.Errorf("the profile of %s: %v", m.Node, err)
			}
		})
	}
	return profiles.Wait
}
