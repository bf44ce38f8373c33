package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/bench"
	"github.com/quolldb/quoll/internal/verify"
)

func TestProgressInWords(t *testing.T) {
	for want, s := range map[string]progressState{
		"[===         ] 25%, 30s left, 1000 records, 10.0MiB, 1.0MiB/s": {1000, 10 << 20, 0.25},
		"[============] 99%, 7 records, 70B, 7B/s":                      {7, 70, 1.2},
		"7 records, 70B, 7B/s":                                          {7, 70, 0},
		"[            ] 0%, 2777h46m30s left, 0 records, 0B, 0B/s":      {0, 0, 1e-6},
	} {
		require.Equal(t, want, bar(s, 10*time.Second)+words(s, 10*time.Second))
	}
}

// TestEveryLongCommandHasABar: the share that is done, and how much time is left.
func TestEveryLongCommandHasABar(t *testing.T) {
	for want, s := range map[string]shown{
		"[===         ] 25%, 45s left, 0 violations, 7 operations, 1 unknown, 2 refused": verifyState{verify.Progress{
			Phase: "working", Elapsed: 15 * time.Second, For: time.Minute, Operations: 7, Unknown: 1, Refused: 2}},
		"[============] 99%, reading back: 0 violations, 7 operations, 0 unknown, 0 refused": verifyState{verify.Progress{
			Phase: "reading back", Elapsed: 61 * time.Second, For: time.Minute, Operations: 7}},
		"connecting": verifyState{verify.Progress{Phase: "connecting"}},
		"[======      ] 50%, 4s left, trial 2 of 3, SET: 8 operations, 2/s": benchState{bench.Progress{
			Phase: "SET", Trial: 2, Trials: 3, Operations: 8, Elapsed: 4 * time.Second, Share: 0.5}},
		"[===         ] 25%, 5m0s left, 25 of 100 slots compared, 3 differ, 1 key written": repairState{admin.RepairProgress{
			Slots: 25, Total: 100, Differing: 3, Keys: 1}, false},
		"waiting for the nodes' own comparison to end: a, c": repairState{admin.RepairProgress{Waiting: []string{"a", "c"}}, false},
	} {
		require.Equal(t, want, bar(s, 100*time.Second)+words(s, 100*time.Second))
	}
}

// TestLinesInALogAreRare: the first after five seconds, and fewer and fewer.
func TestLinesInALogAreRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := startProgress(&out, "Restoring", false)
		time.Sleep(6 * time.Minute)
		p.stop()
		require.Equal(t, 8, strings.Count(out.String(), "\n"), "after 5, 15, 35, 75, 135, 195, 255 and 315 seconds")
	})
}

func TestProgressOnATerminalAndElsewhere(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out, verb: "Restoring", terminal: true, began: time.Now(), over: make(chan struct{})}
	p.set(progressState{5, 1 << 40, 0.5})
	p.show()
	require.True(t, strings.HasPrefix(out.String(), "\r\x1b[KRestoring [======      ] 50%, 0s left, 5 records, 1.0TiB, "), out.String())
	require.NotContains(t, out.String(), "\n")
	out.Reset()
	p.set(progressState{1e12, 1 << 60, 0.5})
	p.show()
	require.Len(t, out.String(), len(clearLine)+barColumns)
	out.Reset()
	p.wait.Go(func() { p.run(time.Hour) })
	p.stop()
	require.Equal(t, "\r\x1b[K", out.String(), "the line is cleared")

	out.Reset()
	p.terminal = false
	p.set(progressState{5, 1 << 40, 0.5})
	p.show()
	require.True(t, strings.HasPrefix(out.String(), "quoll: Restoring 50%, 0s left, 5 records, 1.0TiB, "), out.String())
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	out.Reset()
	startProgress(&out, "Restoring", true).stop()
	require.Empty(t, out.String())
}

func TestTerminals(t *testing.T) {
	require.False(t, isTerminal(&strings.Builder{}))
	for _, name := range []string{os.DevNull, filepath.Join(t.TempDir(), "file")} {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		require.False(t, isTerminal(file), name)
		require.NoError(t, file.Close())
	}
}
