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
	quoll := filepath.Join(t.TempDir(), "quoll")
	out, err := exec.Command("go", "build", "-o", quoll, "github.com/quolldb/quoll/cmd/quoll").CombinedOutput()
	require.NoError(t, err, string(out))
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
	_, err = s.cpu()
	require.Error(t, err, "the processes are gone")
}
