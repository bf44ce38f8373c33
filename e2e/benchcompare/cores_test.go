package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCoreCounts(t *testing.T) {
	for all, want := range map[int][]int{1: {1}, 2: {1}, 3: {1}, 4: {1, 2}, 8: {1, 2, 4}, 12: {1, 2, 4}, 16: {1, 2, 4, 8}} {
		require.Equal(t, want, coreCounts(all), all)
	}
}

// TestTablesOfCores: what one proxy or node does one after the other bounds the cores that are kept busy.
func TestTablesOfCores(t *testing.T) {
	p := &plan{keys: 1000, connections: 50, value: 64, duration: time.Second, depths: []int{16}, date: time.Unix(1e9, 0), machine: "a machine", cmd: "make bench-cores", systems: []system{{name: quollName}, {name: redisName}}}
	at := func(cores int, system, op string, rate float64) cored {
		return cored{Cores: cores, measure: measure{System: system, Op: op, Depth: 16, Throughput: rate}}
	}
	last := at(2, quollName, "SET", 180_000)
	last.Budget = &budget{figure: figure{"SET", 16}, Proxy: side{CPU: 2, Stages: map[string]float64{"sockets": 0.5, "parse": 0.25, "session, commands": 0.25, "route": 1}}, Nodes: side{CPU: 4.5}}
	page := p.coresPage([]cored{at(1, quollName, "SET", 100_000), at(1, redisName, "SET", 300_000), last})
	for _, line := range []string{
		"| cores | | SET at depth 16 | GET at depth 16 |", "| 1 | quoll | 100,000 (1.00) | |", "| 1 | redis | 300,000 (1.00) | |", "| 2 | quoll | 180,000 (0.90) | |",
		"| SET at depth 16 | 1.00 | 1.50 | 4.3 | 2 |",
	} {
		require.Contains(t, page, line+"\n")
	}
}

// TestCoresAreMeasured on this machine, with what is installed.
func TestCoresAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	p := &plan{quoll: built(t), keys: 300, connections: 6, value: 64, duration: 500 * time.Millisecond, depths: []int{1}, out: t.TempDir()}
	require.NoError(t, p.choose(t.Context(), redisName))
	all, err := p.coresAll(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 2*len(p.systems))
	for _, c := range all {
		require.Positive(t, c.Throughput, "%+v", c)
		require.Zero(t, c.Errors, "%+v", c)
	}
	require.NotNil(t, all[1].Budget)
	_, _, cores := all[1].Budget.busyCores(copies)
	require.Greater(t, cores, 1.0)
	require.NoError(t, p.writeCores(all))
}
