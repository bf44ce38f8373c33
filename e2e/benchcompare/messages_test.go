package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMessagesAreMeasured at both systems, for a moment.
func TestMessagesAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Setenv("TMPDIR", t.TempDir())
	p := &plan{quoll: built(t), keys: 30, rounds: 1, connections: 6, value: 64, duration: 200 * time.Millisecond, depths: []int{1, 4}, procs: "1", out: t.TempDir()}
	require.NoError(t, p.choose(t.Context(), redisName))
	all, err := p.messagesAll(t.Context())
	require.NoError(t, err)
	require.Len(t, all, len(p.systems)*(2*len(messageOps)-1), "hand-overs are not pipelined")
	for _, m := range all {
		require.Positive(t, m.Throughput, "%+v", m)
		require.Zero(t, m.Errors+m.Missing, "%+v", m)
		require.LessOrEqual(t, m.P50, m.P99, "%+v", m)
	}
	page := p.messagesPage(all)
	if len(p.systems) > 1 {
		require.Equal(t, 2*len(messageOps)-1, strings.Count(page, "\n| ")-1, page)
	}
}
