package memory_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
)

// benchKeys is the number of keys that the benchmarks work with.
const benchKeys = 1_000_000

// layout says how keys are spread over slots.
type layout struct {
	name  string
	slots int
}

var layouts = []layout{{"uniform", engine.Slots}, {"one-slot", 1}}

func (l layout) slot(i int) uint16 { return uint16(i % l.slots) }

func benchKey(dst []byte, i int) []byte { return fmt.Appendf(dst[:0], "key:%012d", i) }

func benchRecord(i int) record.Record {
	return record.Record{
		Version: record.Version{Ballot: record.Ballot{Counter: 1, Incarnation: 1}, Seq: uint64(i)},
		State:   record.State{Type: record.String, Value: make([]byte, 64)},
	}
}

func fill(b *testing.B, l layout) *memory.Engine {
	e := memory.New()
	var key []byte
	for i := range benchKeys {
		key = benchKey(key, i)
		if err := e.Put(l.slot(i), key, benchRecord(i)); err != nil {
			b.Fatal(err)
		}
	}
	return e
}

// keyTable holds all keys, so that making them is not measured.
func keyTable() [][]byte {
	keys := make([][]byte, benchKeys)
	for i := range keys {
		keys[i] = benchKey(nil, i)
	}
	return keys
}

func BenchmarkGet(b *testing.B) {
	keys := keyTable()
	for _, l := range layouts {
		b.Run(l.name, func(b *testing.B) {
			e := fill(b, l)
			b.ReportAllocs()
			for b.Loop() {
				i := rand.IntN(benchKeys)
				if _, found, err := e.Get(l.slot(i), keys[i]); !found || err != nil {
					b.Fatal(found, err)
				}
			}
		})
	}
}

func BenchmarkOverwrite(b *testing.B) {
	keys := keyTable()
	for _, l := range layouts {
		b.Run(l.name, func(b *testing.B) {
			e := fill(b, l)
			rec := benchRecord(1)
			b.ReportAllocs()
			for b.Loop() {
				i := rand.IntN(benchKeys)
				if err := e.Put(l.slot(i), keys[i], rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFill is the filling of an engine with new keys; slowest is the longest
// that one of the Puts took.
func BenchmarkFill(b *testing.B) {
	keys := keyTable()
	rec := benchRecord(1)
	for _, l := range layouts {
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			var slowest time.Duration
			for b.Loop() {
				e := memory.New()
				for i, key := range keys {
					began := time.Now()
					if err := e.Put(l.slot(i), key, rec); err != nil {
						b.Fatal(err)
					}
					slowest = max(slowest, time.Since(began))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchKeys), "ns/key")
			b.ReportMetric(float64(slowest.Microseconds()), "slowest-µs")
		})
	}
}

// BenchmarkScan is a Scan for 10 records from anywhere.
func BenchmarkScan(b *testing.B) {
	for _, l := range layouts {
		b.Run(l.name, func(b *testing.B) {
			e := fill(b, l)
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				from := engine.Position(rand.Uint64N(uint64(engine.EndPosition)))
				err := e.Scan(l.slot(rand.IntN(benchKeys)), from, func(engine.Position, []byte, record.Record) bool {
					n++
					return n < 10
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHeap reports the heap that a key of 16 bytes with a value of 64 takes,
// those included.
func BenchmarkHeap(b *testing.B) {
	for _, l := range layouts {
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				e := fill(b, l)
				b.ReportMetric(float64(heap()-before)/benchKeys, "bytes/key")
				runtime.KeepAlive(e)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func BenchmarkTotals(b *testing.B) {
	e := fill(b, layouts[0])
	for b.Loop() {
		if _, err := e.Totals(); err != nil {
			b.Fatal(err)
		}
	}
}
