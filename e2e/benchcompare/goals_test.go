package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoals are bold where they are reached, and left out where nothing was measured.
func TestGoals(t *testing.T) {
	cells := []cell{
		{System: quollName, Op: "SET", Depth: 1, Throughput: 60, P999: 9}, {System: redisName, Op: "SET", Depth: 1, Throughput: 100},
		{System: quollName, Op: "GET", Depth: 64, Throughput: 139}, {System: redisName, Op: "GET", Depth: 64, Throughput: 100},
		{System: "wait", Op: "SET", Depth: 1, Throughput: 50, P999: 8},
	}
	table := goalsTable(cells)
	require.Contains(t, table, "| one redis-server, nothing replicated | **0.60** (0.6) | | | | | 1.39 (1.4) |\n")
	require.Contains(t, table, "| redis-server, two replicas, `WAIT 1` | 1.20 (1.3) | | | | | |\n")
	require.Contains(t, table, "| the same, p99.9 (1 or less) | 1.12 (1) | | | | | |\n")
	require.NotContains(t, table, "Redis Cluster")
	require.Empty(t, goalsTable(cells[:1]))
	p, cells := example()
	require.Contains(t, p.markdown(cells), "| one redis-server, nothing replicated | 0.50 (0.6) | | | | | |\n")
}

// TestPagesGetTablesAndPlots: what is between the lines is replaced, and plots are found from there.
func TestPagesGetTablesAndPlots(t *testing.T) {
	dir := t.TempDir()
	p := &plan{page: filepath.Join(dir, "speed.md")}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "speed"), 0o700))
	require.NoError(t, os.WriteFile(p.page, []byte("a\n"+pageBegins("bench")+"old\n"+pageEnds+"b\n"+pageBegins("other")+"kept\n"+pageEnds), 0o600))
	require.NoError(t, p.writePage("bench", "see ![it](plot.svg)\n", map[string]string{"plot.svg": "<svg/>"}))
	text, err := os.ReadFile(p.page)
	require.NoError(t, err)
	require.Equal(t, "a\n"+pageBegins("bench")+"see ![it](speed/plot.svg)\n"+pageEnds+"b\n"+pageBegins("other")+"kept\n"+pageEnds, string(text))
	plot, err := os.ReadFile(filepath.Join(dir, "speed", "plot.svg"))
	require.NoError(t, err)
	require.Equal(t, "<svg/>", string(plot))
	require.Error(t, p.writePage("nobody", "", nil))
	p.page = ""
	require.NoError(t, p.writePage("bench", "", nil))
}
