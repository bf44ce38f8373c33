package metrics

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Counter is a number that only grows. The zero Counter is ready.
type Counter struct{ n atomic.Uint64 }

// Inc adds one.
func (c *Counter) Inc() { c.n.Add(1) }

// Add adds n.
func (c *Counter) Add(n uint64) { c.n.Add(n) }

// Value returns the number.
func (c *Counter) Value() uint64 { return c.n.Load() }

// Gauge is a number that goes up and down. The zero Gauge is ready.
type Gauge struct{ n atomic.Int64 }

// Add adds n, which may be negative.
func (g *Gauge) Add(n int64) { g.n.Add(n) }

// Value returns the number.
func (g *Gauge) Value() int64 { return g.n.Load() }

// buckets is the number of a Histogram's buckets: with microseconds, up to 17 s.
const buckets = 25

// Histogram counts observations in buckets whose upper bounds are powers of two: 1,
// 2, 4 ... 2^24, and infinity. The zero Histogram is ready.
type Histogram struct {
	counts [buckets + 1]atomic.Uint64
	sum    atomic.Uint64
}

// Observe counts one observation.
func (h *Histogram) Observe(n uint64) {
	i := 0
	if n > 1 {
		i = min(bits.Len64(n-1), buckets)
	}
	h.counts[i].Add(1)
	h.sum.Add(n)
}

// ObserveDuration counts a duration in microseconds, rounded up.
func (h *Histogram) ObserveDuration(d time.Duration) {
	h.Observe(uint64((max(d, 0) + time.Microsecond - 1) / time.Microsecond))
}

// cumulate returns the number of observations, their sum, and how many are at most
// each bound, bounds and sum multiplied by scale.
func (h *Histogram) cumulate(scale float64) (count uint64, sum float64, atMost map[float64]uint64) {
	atMost = make(map[float64]uint64, buckets)
	for i := range h.counts {
		count += h.counts[i].Load()
		if i < buckets {
			atMost[float64(uint64(1)<<i)*scale] = count
		}
	}
	return count, float64(h.sum.Load()) * scale, atMost
}
