package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTableOfDisks: ratios are those of the same round, and a goal stands where it is meant.
func TestTableOfDisks(t *testing.T) {
	p := &plan{keys: 1000, connections: 50, rounds: 3, duration: time.Second, depths: []int{1, 16}, date: time.Unix(1e9, 0), machine: "a machine", cmd: "make bench-disk"}
	var points []diskPoint
	for round, rates := range [][2]float64{{100, 200}, {300, 300}, {80, 100}} {
		for i, name := range []string{oursName, peerName} {
			for _, depth := range p.depths {
				m := measure{System: name, Op: "SET", Depth: depth, Round: round + 1, Throughput: rates[i] * float64(depth), CPU: 7, P99: 2500}
				points = append(points, diskPoint{Case: "one", measure: m, Written: float64(round + 2)})
			}
		}
	}
	points = append(points, diskPoint{Case: "one", measure: measure{System: oursName}, Memory: 2000, Disk: 3000, Copies: 1000})
	page := p.diskPage(points)
	require.Contains(t, page, "1000 keys. A copy of a key takes 2000 B of memory and 3000 B on disk (Quoll).\n")
	require.Contains(t, page, "| SET at depth 1 | 100 | 2.50 ms | 7.0 µs | 200 | 2.50 ms | 7.0 µs | **0.80** (0.76) | 0.50–1.00 | 3.0 |\n")
	require.Contains(t, page, "| SET at depth 16 | 1,600 | 2.50 ms | 7.0 µs | 3,200 | 2.50 ms | 7.0 µs | 0.80 | 0.50–1.00 | 3.0 |\n", "aimed at for depth 1 only")
	require.Equal(t, 2, strings.Count(page, "| SET at"))
	require.NotContains(t, page, "GET at", "not measured")
}

// TestDisksAreMeasured on this machine, with what is installed.
func TestDisksAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	p := &plan{quoll: built(t), keys: 300, connections: 6, rounds: 1, value: 64, duration: 200 * time.Millisecond, depths: []int{1}, cases: []string{"large", "cache"}, out: t.TempDir()}
	require.NoError(t, p.choose(t.Context(), redisName))
	if len(p.missing) > 0 {
		t.Skip("no redis-server: ", p.missing)
	}
	all, err := p.diskAll(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2*(2*2+2))
	for _, pt := range all {
		switch {
		case pt.Copies > 0:
			require.Positive(t, pt.Memory, "%+v", pt)
			require.Equal(t, pt.System == oursName, pt.Disk > 1000, "%+v", pt)
		default:
			require.Positive(t, pt.Throughput, "%+v", pt)
			require.Zero(t, pt.Errors+pt.Missing, "%+v", pt)
		}
	}
	require.NoError(t, p.writeDisk(all))
}

func TestDiskSpace(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "of a node"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "of a node", "file"), make([]byte, 100_000), 0o600))
	bytes, err := diskSpace(dir)
	require.NoError(t, err)
	require.InDelta(t, 100_000, bytes, 10_000)
	before, err := writtenToDisks()
	require.NoError(t, err)
	after, err := writtenToDisks()
	require.NoError(t, err)
	require.GreaterOrEqual(t, after, before)
}

// TestALoadedMachineIsNotMeasured, unless it is all the same.
func TestALoadedMachineIsNotMeasured(t *testing.T) {
	require.ErrorContains(t, (&plan{}).awaitQuiet(t.Context(), 0), "FLAGS=-loaded")
	require.NoError(t, (&plan{loaded: true}).awaitQuiet(t.Context(), 0))
	require.NoError(t, (&plan{guards: true}).awaitQuiet(t.Context(), 0), "it waits for each round")
}
