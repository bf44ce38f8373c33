package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEverySystemIsMeasuredAndStopped runs the whole comparison on few keys, with every system that is installed.
func TestEverySystemIsMeasuredAndStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("starts up to twelve servers")
	}
	quoll := built(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	p := &plan{quoll: quoll, keys: 300, rounds: 1, connections: 6, value: 64, duration: 200 * time.Millisecond, depths: []int{1, 16}, procs: "1"}
	require.NoError(t, p.choose(t.Context(), ""))
	for _, why := range p.missing {
		t.Log("left out:", why)
	}
	measures, err := p.measureAll(t.Context())
	require.NoError(t, err)
	want := 0
	for _, s := range p.systems {
		require.NotEmpty(t, s.version, s.name)
		want += len(p.depths)
		if !s.setsOnly {
			want += len(p.depths)
		}
	}
	require.Len(t, measures, want)
	for _, m := range measures {
		what := fmt.Sprintf("%+v", m)
		require.Positive(t, m.Throughput, what)
		require.Zero(t, m.Errors, what)
		require.Zero(t, m.Missing, what)
	}
	left, err := filepath.Glob(filepath.Join(temporary, "quoll-benchcompare-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestScaleMeasuresEveryPoint lets one thing grow a little, with what is installed.
func TestScaleMeasuresEveryPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	all := sweeps
	t.Cleanup(func() { sweeps = all })
	sweeps = []sweep{
		{name: "keys", title: "number of keys", values: []int{100, 300}, depths: []int{1, 16}, set: all[0].set},
		{name: "nodes", title: "number of nodes", values: []int{5}, depths: []int{1}, onlyQuoll: true, set: all[3].set},
	}
	quoll := built(t)
	p := &plan{quoll: quoll, keys: 300, connections: 6, value: 64, duration: 200 * time.Millisecond, procs: "1", out: t.TempDir()}
	require.NoError(t, p.choose(t.Context(), "redis"))
	points, err := p.scaleAll(t.Context())
	require.NoError(t, err)
	require.Len(t, points, 2*2*2*len(p.systems)+2)
	for _, pt := range points {
		what := fmt.Sprintf("%+v", pt)
		require.Positive(t, pt.Throughput, what)
		require.Zero(t, pt.Errors, what)
		require.Positive(t, pt.Memory, what)
		require.GreaterOrEqual(t, pt.GC, 0.0, what)
	}
	require.NoError(t, p.writeScale(points))
	require.FileExists(t, filepath.Join(p.out, "scale.svg"))
}

// built builds the binary.
func built(t *testing.T) string {
	quoll := filepath.Join(t.TempDir(), "quoll")
	out, err := exec.Command("go", "build", "-pgo=off", "-o", quoll, "github.com/quolldb/quoll/cmd/quoll").CombinedOutput()
	require.NoError(t, err, string(out))
	return quoll
}

func TestOnlySystemsThatThereAre(t *testing.T) {
	p := &plan{quoll: "/bin/false"}
	require.EqualError(t, p.choose(t.Context(), "redis,ketchup"), `-only: there is no system "ketchup"`)
	require.NoError(t, p.choose(t.Context(), "redis"))
	require.Equal(t, quollName, p.systems[0].name)
	require.LessOrEqual(t, len(p.systems), 2)
}

// TestASystemThatDoesNotStart: its last words are the error, and its processes are gone.
func TestASystemThatDoesNotStart(t *testing.T) {
	p := &plan{quoll: "/bin/false"}
	s, err := p.newSite()
	require.NoError(t, err)
	began := time.Now()
	_, err = startQuoll(t.Context(), s)
	require.ErrorContains(t, err, "has ended")
	require.Less(t, time.Since(began), 20*time.Second)
	require.NoError(t, s.close())
	require.NoDirExists(t, s.dir)
	_, err = cpuOf(s.processes)
	require.Error(t, err, "the processes are gone")
}
