package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTypesAreMeasured on every engine, with few elements.
func TestTypesAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Setenv("TMPDIR", t.TempDir())
	for _, engine := range []string{memoryEngine, "badger"} {
		p := &plan{quoll: built(t), keys: 30, rounds: 1, connections: 6, value: 64, duration: 200 * time.Millisecond, depths: []int{1}, sizes: []int{10, 1000}, engine: engine, procs: "1", out: t.TempDir()}
		require.NoError(t, p.choose(t.Context(), redisName))
		points, err := p.typesAll(t.Context())
		require.NoError(t, err)
		require.Len(t, points, len(p.systems)*len(p.sizes)*(2+len(operationsOf(valueTypes))))
		for _, pt := range points {
			require.Positive(t, pt.Throughput, "%+v", pt)
			require.Zero(t, pt.Errors+pt.Missing, "%+v", pt)
		}
		require.NoError(t, p.writeTypes(points))
	}
}

func TestPageOfTypesHasRatios(t *testing.T) {
	p, _ := example()
	p.sizes, p.depths, p.keys, p.filled = []int{10, 1_000_000}, []int{16}, 1000, 10_000
	point := func(system, op string, elements int, rate, cpu float64) typePoint {
		return typePoint{Elements: elements, measure: measure{System: system, Op: op, Depth: 16, Throughput: rate, CPU: cpu}}
	}
	points := []typePoint{
		point(quollName, "SET", 10, 5000, 10), point(redisName, "SET", 10, 10_000, 2), point(quollName, "LPOP", 10, 4000, 12), point(redisName, "LPOP", 10, 10_000, 2),
		point(quollName, "GET", 1_000_000, 5000, 5), point(redisName, "GET", 1_000_000, 10_000, 1), point(quollName, "ZSCORE", 1_000_000, 4000, 5), point(redisName, "ZSCORE", 1_000_000, 4000, 2),
	}
	for system, bytes := range map[string]float64{quollName: 120_000, redisName: 100_000} {
		points = append(points, typePoint{Type: "set", Elements: 10_000, measure: measure{System: system}, Bytes: bytes})
	}
	page := p.typesPage(points)
	for _, line := range []string{
		"### 1000 keys of 10 elements",
		"| SET | 16 | 5,000 | 10.0 µs | 0 µs | 10,000 | 2.0 µs | 0 µs | 0.50 |  |  |",
		"| LPUSH, LPOP | 16 | 4,000 | 12.0 µs | 0 µs | 10,000 | 2.0 µs | 0 µs | 0.40 | 0.80 | 0.83 |",
		"### 4 keys of 1000000 elements",
		"| ZSCORE | 16 | 4,000 | 5.0 µs | 0 µs | 4,000 | 2.0 µs | 0 µs | 1.00 | 2.00 | 2.00 |",
		"| set | 1 | 10000 | 12.0 | 10.0 | 1.20 |",
	} {
		require.Contains(t, page, line+"\n", fmt.Sprint(page))
	}
}
