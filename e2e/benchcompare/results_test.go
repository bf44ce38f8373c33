package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// example is a plan of two systems, and what could have been measured.
func example() (*plan, []cell) {
	p := &plan{
		keys: 1000, rounds: 3, connections: 50, value: 64, duration: time.Second, depths: []int{1, 16}, date: time.Unix(1e9, 0),
		machine: "a machine", cmd: "make bench-compare", systems: systems[:2], missing: []string{"cluster: redis-server is not installed"},
	}
	var all []measure
	for _, m := range []measure{
		{System: "quoll", Op: "SET", Depth: 1, Throughput: 30_000, P50: 1500, P99: 3000, P999: 9000, CPU: 45, Errors: 1},
		{System: "quoll", Op: "SET", Depth: 16, Throughput: 150_000, P50: 5000, P99: 9000, P999: 12_000, CPU: 11},
		{System: "redis", Op: "SET", Depth: 1, Throughput: 60_000, P50: 750, P99: 1500, P999: 4500, CPU: 9},
		{System: "redis", Op: "GET", Depth: 1, Throughput: 70_000, P50: 700, P99: 1400, P999: 4000, CPU: 9},
	} {
		for round, factor := range []float64{1, 0.9, 1.2} {
			m.Round, m.Operations = round+1, 10
			measured := m
			measured.Throughput *= factor
			all = append(all, measured)
		}
	}
	return p, summarize(all)
}

func TestTableHasMediansAndRatios(t *testing.T) {
	p, cells := example()
	table := p.markdown(cells)
	for _, line := range []string{
		"Measured on 2001-09-09: a machine.",
		"Again: `make bench-compare`",
		"- left out: cluster: redis-server is not installed",
		"| 1 | **quoll**, 3 errors in 33 | 30,000 | 27,000 to 36,000 | 1.50 ms | 3.00 ms | 9.00 ms | 45.0 µs |",
		"| 1 | redis | 60,000 (0.50) | 54,000 to 72,000 | 750 µs (2.00) | 1.50 ms (2.00) | 4.50 ms (2.00) | 9.0 µs (5.00) |",
		"| 16 | **quoll** | 150,000 | 135,000 to 180,000 | 5.00 ms | 9.00 ms | 12.0 ms | 11.0 µs |",
		"| 1 | redis | 70,000 | 63,000 to 84,000 | 700 µs | 1.40 ms | 4.00 ms | 9.0 µs |",
	} {
		require.Contains(t, table, line+"\n")
	}
}

func TestPlotsAreWellFormedAndTheSameEachTime(t *testing.T) {
	p, cells := example()
	for _, draw := range []func([]cell) string{p.throughputPlot, p.latencyPlot} {
		picture := draw(cells)
		require.Equal(t, picture, draw(cells))
		require.NotContains(t, picture, "NaN")
		require.Contains(t, picture, "Quoll: 3 copies, majorities")
		decoder := xml.NewDecoder(strings.NewReader(picture))
		curves := 0
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if element, ok := token.(xml.StartElement); ok && element.Name.Local == "path" {
				curves++
			}
		}
		require.Greater(t, curves, len(p.systems), "curves besides those of the legend")
		require.NotEmpty(t, draw(nil), "nothing was measured")
	}
}

func TestScaleTablesAndPlots(t *testing.T) {
	p, _ := example()
	var points []point
	for _, value := range []int{10_000, 100_000} {
		for _, system := range []string{quollName, "redis"} {
			for _, op := range []string{"SET", "GET"} {
				points = append(points, point{Sweep: "keys", Value: value, Memory: 150.4, GC: 0.021,
					measure: measure{System: system, Op: op, Depth: 1, Throughput: 30_000, P999: 9000}})
			}
		}
	}
	page := p.scalePage(points)
	require.Contains(t, page, "| 10000 | quoll | 30,000 | 9.00 ms | 30,000 | 9.00 ms | | | | | 150 B | 2.1 % |\n")
	require.Contains(t, page, "| 100000 | redis | 30,000 | 9.00 ms | 30,000 | 9.00 ms | | | | | 150 B |  |\n")
	picture := p.scalePlot(points)
	require.Equal(t, picture, p.scalePlot(points))
	require.NotContains(t, picture, "NaN")
	require.NotContains(t, picture, "Inf")
	require.NoError(t, xml.Unmarshal([]byte(picture), new(struct{})))
	require.NotEmpty(t, p.scalePlot(nil))
	require.Equal(t, "64Ki", short(64<<10))
	require.Equal(t, "10k", short(10_000))
}

func TestNumbers(t *testing.T) {
	for want, rate := range map[string]float64{"999": 999, "1,000": 1000, "86,100": 86_149, "100,000": 99_999, "514,000": 514_321} {
		require.Equal(t, want, thousands(rate))
	}
	require.Equal(t, []float64{0, 20, 40, 60, 80, 100}, even(90, 5))
	require.Equal(t, []float64{100, 1000, 10_000}, decades(120, 9999))
}
