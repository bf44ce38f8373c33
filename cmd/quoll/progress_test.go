package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgressInWords(t *testing.T) {
	for want, s := range map[string]progressState{
		"[===         ] 25%, 1000 records, 10.0MiB, 1.0MiB/s, 30s left": {1000, 10 << 20, 0.25},
		"[============] 99%, 7 records, 70B, 7B/s":                      {7, 70, 1.2},
		"7 records, 70B, 7B/s":                                          {7, 70, 0},
		"[            ] 0%, 0 records, 0B, 0B/s, 2777h46m30s left":      {0, 0, 1e-6},
	} {
		require.Equal(t, want, s.bar()+s.text(10*time.Second))
	}
}

func TestProgressOnATerminalAndElsewhere(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out, verb: "Restoring", terminal: true, began: time.Now(), over: make(chan struct{})}
	p.set(progressState{5, 1 << 40, 0.5})
	p.show()
	require.True(t, strings.HasPrefix(out.String(), "\r\x1b[KRestoring [======      ] 50%, 5 records, 1.0TiB, "), out.String())
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
	require.True(t, strings.HasPrefix(out.String(), "quoll: Restoring 50%, 5 records, 1.0TiB, "), out.String())
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
