//go:build linux

package powercut

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestNothingIsLost: with --fsync always a power cut of all machines at once takes back
// nothing that a client was told. With one replica no other node makes up for what one forgot, and a node
// that hurries is always writing tables and collecting files when the power goes.
func TestNothingIsLost(t *testing.T) {
	needsDisks(t)
	hurried := cluster.Hurried(t)
	for name, cfg := range map[string]cluster.Config{
		"3 replicas":          {},
		"1 replica":           {Node: []string{"--replicas", "1"}},
		"1 replica, hurried":  {Node: []string{"--replicas", "1"}, Binary: hurried},
		"3 replicas, hurried": {Binary: hurried},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Fsync = "always"
			s := newSite(t, cfg)
			for _, o := range s.runAndCut(*trials) {
				s.boot()
				require.Zero(t, s.lost(o))
				for _, m := range s.c.Nodes {
					require.NotContains(t, m.Log(), "level=ERROR", "%s finds something wrong with its data", m.Name)
				}
			}
		})
	}
}

// TestIntervalSaysWhatItLost: with --fsync interval a power cut takes back the last moments.
// Nodes that find themselves on a machine that was booted since do not vote, and say why. What would be
// lost if they did is seen when they believe that only they were killed.
func TestIntervalSaysWhatItLost(t *testing.T) {
	needsDisks(t)
	s := newSite(t, cluster.Config{Fsync: "interval=100ms"})
	// One cut may come just after two of the nodes have synced, and take nothing. Six in a row do not.
	outages := s.runAndCut(max(*trials, 6))
	var sum losses
	for i, o := range outages {
		if i >= *trials && sum != (losses{}) {
			break
		}
		sum.add(s.lost(o))
	}
	require.NotZero(t, sum, "a power cut loses what was not synced: does the test cut anything?")

	s.boot()
	for _, o := range outages[:*trials] {
		logged := map[string]int{}
		for _, m := range s.c.Nodes {
			logged[m.Name] = len(m.Log())
		}
		s.startOn(o)
		for _, m := range s.c.Nodes {
			cluster.Await(t, m.Name+" says that it lost its state", func() bool {
				ready, text := m.Ready()
				require.False(t, ready, "it must not vote")
				return m.Running() && strings.Contains(text, "does not vote")
			})
			require.Contains(t, m.Log()[logged[m.Name]:], "does not vote")
		}
		require.ErrorContains(t, s.client.Get(t.Context(), key(0, 1)).Err(), "CLUSTERDOWN ")
	}
}

// TestWithoutFsyncWritesAreLost: a quoll whose journal does not sync what it writes loses
// acknowledged writes, or does not start, since a checkpoint proves that something is missing. So TestNothingIsLost would notice.
func TestWithoutFsyncWritesAreLost(t *testing.T) {
	needsDisks(t)
	binary := cluster.Build(t, cluster.Edit{File: "node/engine/journal/fs_linux.go",
		Old: `named("fdatasync", f, uninterrupted(func() error { return syscall.Fdatasync(int(f.Fd())) }))`, New: "nil"})
	s := newSite(t, cluster.Config{Fsync: "always", Binary: binary})
	first := s.runAndCut(1)[0]
	s.boot()
	s.startOn(first)
	for _, m := range s.c.Nodes {
		cluster.Await(t, m.Name+" is ready, or ended", func() bool {
			ready, _ := m.Ready()
			return ready || !m.Running()
		})
		if !m.Running() {
			require.Contains(t, m.Log(), "corrupt data")
			t.Logf("%s finds that something is missing", m.Name)
			return
		}
	}
	require.NotZero(t, s.compare(first))
}
