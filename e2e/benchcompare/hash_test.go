package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHashesAreMeasured on every engine, with few fields.
func TestHashesAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Setenv("TMPDIR", t.TempDir())
	p := &plan{quoll: built(t), keys: 30, rounds: 1, connections: 6, value: 64, duration: 200 * time.Millisecond, depths: []int{1, 4}, sizes: []int{3, 50}, procs: "1", out: t.TempDir()}
	require.NoError(t, p.choose(t.Context(), redisName))
	points, err := p.hashAll(t.Context())
	require.NoError(t, err)
	want := 0
	for _, s := range p.systems {
		want += 4*len(p.depths) + len(s.engines())*2*(1+len(p.sizes))
	}
	require.Len(t, points, want)
	for _, pt := range points {
		what := fmt.Sprintf("%+v", pt)
		require.Positive(t, pt.Throughput, what)
		require.Zero(t, pt.Errors+pt.Missing, what)
		if pt.Part == growing && pt.Engine != memoryEngine && strings.HasSuffix(pt.Op, "SET") {
			require.Positive(t, pt.Written, what)
		}
	}
	require.NoError(t, p.writeHash(points))
}

func TestPageOfHashesHasRatios(t *testing.T) {
	p, _ := example()
	p.sizes, p.depths = []int{10, 1000}, []int{1}
	var points []hashPoint
	for i, op := range []string{"SET", "HSET", "GET", "HGET"} {
		for j, system := range []string{quollName, redisName} {
			points = append(points, hashPoint{Part: small, measure: measure{System: system, Op: op, Depth: 1, Throughput: float64(1000 - 100*i - 250*j), CPU: float64(10 + i)}})
		}
	}
	for fields, cost := range map[int]float64{0: 20, 10: 30, 1000: 45} {
		points = append(points,
			hashPoint{Part: growing, Engine: "badger", Fields: fields, measure: measure{System: quollName, Op: "HSET", Depth: 1, Throughput: 500}, NodeCPU: cost, Written: 720},
			hashPoint{Part: growing, Engine: "badger", Fields: fields, measure: measure{System: quollName, Op: "HGET", Depth: 1, Throughput: 600, Errors: 1, Operations: 9}, NodeCPU: cost / 10})
	}
	page := p.hashPage(points)
	for _, line := range []string{
		"| 1 | **quoll** | 1,000 | 900 | 0.90 | 1.10 | 800 | 700 | 0.88 | 1.08 |",
		"| 1 | redis | 750 | 650 | 0.87 | 1.10 | 550 | 450 | 0.82 | 1.08 |",
		"| 1 | quoll/redis | 1.33 | 1.38 | | | 1.45 | 1.56 | | |",
		"| **quoll** | badger | a string: SET, GET | 500 | 0 µs | 20.0 µs | 720 B (10.0) | 600, 1 errors in 10 | 0 µs | 2.0 µs |",
		"| **quoll** | badger | 10 | 500 | 0 µs | 30.0 µs | 720 B (10.0) | 600, 1 errors in 10 | 0 µs | 3.0 µs |",
		"| **quoll** | badger | 1000 | 500 | 0 µs | 45.0 µs (1.50) | 720 B (10.0) | 600, 1 errors in 10 | 0 µs | 4.5 µs (1.50) |",
	} {
		require.Contains(t, page, line+"\n")
	}
	require.NotContains(t, page, "| memory |", "nothing was measured of it")
}
