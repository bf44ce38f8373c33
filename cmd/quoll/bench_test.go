package main

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"

	"github.com/quolldb/quoll/internal/bench"
)

func TestBenchForPeople(t *testing.T) {
	r := bench.Report{
		Options: bench.Echo{Addresses: []string{"127.0.0.1:6379"}, Workload: "simple", Distribution: "uniform", Connections: 50, Depth: 16, KeySize: 16, ValueSize: 64, Keys: 1000, Trials: 2},
		Rows:    []bench.Row{{Trial: 1, Op: "SET", Operations: 2000, Throughput: 1000.4, P50: 412, P99: 3456, P999: 4000, Max: 5000, Errors: 3}},
		Summary: []bench.Summary{{Op: "SET", Throughput: bench.Spread{P25: 900, Median: 1000, P75: 1100}}},
	}
	var out strings.Builder
	require.NoError(t, writeBenchTable(&out, r))
	require.Equal(t, `Bench of 127.0.0.1:6379: simple, 50 connections with a depth of 16, 1000 keys of 16 B, values of 64 B, uniform.

TRIAL   OP   OPS/S  P50    P99     P99.9  MAX  OPERATIONS  ERRORS  MISSING  WRONG
1       SET  1000   412µs  3.46ms  4ms    5ms  2000        3       0        0
25%     SET  900    0s     0s      0s     0s
median  SET  1000   0s     0s      0s     0s
75%     SET  1100   0s     0s      0s     0s
`, out.String())
	out.Reset()
	require.NoError(t, writeBenchCSV(&out, r))
	require.Equal(t, "trial,op,operations_per_second,p50_us,p99_us,p99_9_us,max_us,operations,errors,missing,wrong,seconds\n1,SET,1000.4,412,3456,4000,5000,2000,3,0,0,0\n", out.String())

	out.Reset()
	require.NoError(t, writeBenchTable(&out, bench.Report{Options: r.Options, Interrupted: true}))
	require.Contains(t, out.String(), "Bench of 127.0.0.1:6379 (interrupted):")
	require.Contains(t, out.String(), "Nothing was measured.")

	r.Options.Fields, r.Options.FieldSize = 1, 8
	out.Reset()
	require.NoError(t, writeBenchTable(&out, r))
	require.Contains(t, out.String(), "1000 keys of 16 B, 1 field of 8 B, values of 64 B, uniform.\n")
}

// TestBenchEndsWithCode1IfAnswersAreNotAsTheyShouldBe: a server that forgets, and one that refuses.
func TestBenchEndsWithCode1IfAnswersAreNotAsTheyShouldBe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		_ = redcon.Serve(listener, func(conn redcon.Conn, cmd redcon.Command) {
			switch string(cmd.Args[0]) {
			case "GET":
				conn.WriteNull()
			case "SET":
				if len(cmd.Args[2]) == 7 {
					conn.WriteError("ERR seven is refused")
					return
				}
				fallthrough
			default:
				conn.WriteString("OK")
			}
		}, nil, nil)
	}()
	line := []string{"bench", "--addr", listener.Addr().String(), "--count", "100", "--keys", "10", "-o", "json"}
	code, stdout, stderr := newShell().run(line...)
	require.Equal(t, exitOK, code, stderr)
	var report bench.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.EqualValues(t, 100, report.Rows[1].Missing)

	code, _, stderr = newShell().run(append(line, "--check")...)
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: of the values that must be there 100 were missing and 0 wrong\n", stderr)

	code, _, stderr = newShell().run(append(line, "--value-size", "7", "--no-load")...)
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: answers were errors: 100, the last one: ERR seven is refused\n", stderr)
}
