package datatype

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// benchHash is a hash of so many fields, with values as quoll bench has them, made as a node makes one that it is sent.
func benchHash(fields int) record.State {
	packed := binary.AppendUvarint(nil, uint64(fields))
	for i := range fields {
		packed = parts.AppendItem(packed, fmt.Appendf(nil, "f%07d", i), bytes.Repeat([]byte("v"), 64))
	}
	st, _ := Live(record.State{Type: record.Hash, Value: packed})
	return st
}

// asking returns a function that returns the request with another field in each call, in memory of the one before.
func asking(words ...string) func(field int) *command.Request {
	req := request(words...)
	req.MaxValue = 128 << 20
	return func(field int) *command.Request {
		req.Args[2] = fmt.Appendf(req.Args[2][:0], "f%07d", field)
		return req
	}
}

// cpuTime is what the process has used of the processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkHashThatGrows is what one field of a hash costs the replicas, the garbage collector included: one executes HSET, and two are sent the delta. There are
// four hashes, as in make bench-hash.
func BenchmarkHashThatGrows(b *testing.B) {
	const hashes, replicas = 4, 3
	for _, fields := range []int{10, 1000, 100_000, 1_000_000} {
		var states [hashes][replicas]record.State
		made := false
		build := func(b *testing.B) {
			if made {
				return
			}
			made = true
			for i := range states {
				for j := range states[i] {
					states[i][j] = benchHash(fields)
				}
			}
			runtime.GC()
			b.ResetTimer()
		}
		value := strings.Repeat("w", 64)
		b.Run(fmt.Sprint("HSET/", fields), func(b *testing.B) {
			build(b)
			ask := asking("HSET", "k", "f", value)
			var a Applier
			var dst []byte
			b.ReportAllocs()
			before := cpuTime()
			for b.Loop() {
				h := rand.IntN(hashes)
				var eff record.Effect
				dst, eff = Execute(dst[:0], states[h][0], ask(rand.IntN(fields)), testNow)
				if eff.Kind == record.Patched { // whoever keeps the value overwrites it
					for j := range states[h] {
						copy(states[h][j].Value[eff.At:], eff.Delta)
					}
					continue
				}
				states[h][0] = eff.State.Keep()
				for j := 1; j < replicas; j++ {
					next, err := a.Apply(states[h][j], eff.Delta)
					if err != nil {
						b.Fatal(err)
					}
					states[h][j] = next.Keep()
				}
			}
			b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
		})
		b.Run(fmt.Sprint("HGET/", fields), func(b *testing.B) {
			build(b)
			ask := asking("HGET", "k", "f")
			var dst []byte
			b.ReportAllocs()
			before := cpuTime()
			for b.Loop() {
				h := rand.IntN(hashes)
				dst, _ = Execute(dst[:0], states[h][rand.IntN(replicas)], ask(rand.IntN(fields)), testNow)
			}
			b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}
