package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/verify"
)

func TestReportForPeople(t *testing.T) {
	r := verify.Report{
		Run: "0a1b2c3d", Addresses: []string{"127.0.0.1:6379", "127.0.0.1:6380"}, Clients: 8, Elapsed: 60040 * time.Millisecond,
		Operations: 120_000, Unknown: 3, Refused: 12, Rate: 2000, P50: 412 * time.Microsecond, P99: 3456 * time.Microsecond,
	}
	var out strings.Builder
	require.NoError(t, writeReport(&out, r))
	require.Equal(t, `Verified 127.0.0.1:6379, 127.0.0.1:6380 for 1m0s with 8 clients, run 0a1b2c3d.

LOST  STALE  WRONG  UNKNOWN  REFUSED  OPERATIONS  RATE    P50    P99
0     0      0      3        12       120000      2000/s  412µs  3.46ms

Nothing was lost, stale or wrong.
`, out.String())

	r.Transfers, r.Readings = map[string]int64{"WATCH": 3, "MULTI": 40}, 7
	out.Reset()
	require.NoError(t, writeReport(&out, r))
	require.Contains(t, out.String(), "3.46ms\n\n43 transfers (MULTI 40, WATCH 3); groups of accounts were read as a whole 7 times.\n\nNothing")

	r.Transfers, r.Queues = nil, &verify.QueueReport{Queues: 6, Pushed: 100, Taken: map[string]int64{"BLPOP": 40, "BLMOVE": 30}, Again: 2, Excused: 1}
	out.Reset()
	require.NoError(t, writeReport(&out, r))
	require.Contains(t, out.String(), "3.46ms\n\n6 queues: 100 elements pushed; taken: BLMOVE 30, BLPOP 40; brought back or claimed: 2; explained by unknown outcomes: 1.\n\nNothing")

	r.Lost, r.Unread, r.Left, r.Interrupted, r.LastError = 2, 1, 4, true, "CLUSTERDOWN"
	r.Findings = []verify.Finding{{Class: verify.Lost, Key: "k", Text: "it is gone\nand so on\n"}}
	out.Reset()
	require.NoError(t, writeReport(&out, r))
	require.Contains(t, out.String(), "for 1m0s (interrupted) with")
	require.Contains(t, out.String(), `
1 key could not be read back at the end: nothing is known about them.
VIOLATED. What was found, the first 1 of 2:
  lost: k: it is gone
    and so on
The last error: CLUSTERDOWN
4 keys could not be removed: they begin with quoll-verify:0a1b2c3d:
`)
}
