package datatype

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// BenchmarkStream measures what a home does for a command on a long stream with a group, and what a replica does for its delta, which must be one.
func BenchmarkStream(b *testing.B) {
	const entries = 100_000
	run := func(st record.State, args ...string) record.Effect {
		reply, eff := Execute(nil, st, request(args...), 1_700_000_000_000)
		require.NotEqual(b, record.Unchanged, eff.Kind, "%q", reply)
		return eff
	}
	value := string(bytes.Repeat([]byte("x"), 64))
	full := record.State{}
	for range entries {
		full = run(full, "XADD", "s", "*", "field", value).Whole().Keep()
	}
	full = run(full, "XGROUPKEY", "s", "create", "g", "0").Whole().Keep()
	for _, args := range [][]string{
		{"XADD", "s", "*", "field", value},
		{"XREADGROUPKEY", "s", ">", "GROUP", "g", "c", "COUNT", "1"},
	} {
		req := request(args...)
		b.Run(args[0]+"/home", func(b *testing.B) {
			st, n := full, 0
			var reply []byte
			b.ReportAllocs()
			for b.Loop() {
				if n++; n%entries == 0 {
					st = full
				}
				var eff record.Effect
				reply, eff = Execute(reply[:0], st, req, 1_700_000_000_000)
				require.Equal(b, record.Changed, eff.Kind)
				st = eff.State
			}
		})
		b.Run(args[0]+"/replica", func(b *testing.B) {
			st, n := full, 0
			var deltas [][]byte
			for home := full; len(deltas) < entries-1; {
				_, eff := Execute(nil, home, req, 1_700_000_000_000)
				deltas, home = append(deltas, bytes.Clone(eff.Delta)), eff.State
			}
			b.ReportAllocs()
			for b.Loop() {
				if n == len(deltas) {
					st, n = full, 0
				}
				var err error
				if st, err = Apply(st, deltas[n]); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}
