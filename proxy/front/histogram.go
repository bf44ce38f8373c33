package front

import (
	"math/bits"
	"sync/atomic"
)

// Histogram counts values by powers of two: bucket i holds those up to 2^i.
type Histogram struct {
	buckets [33]atomic.Uint64
	sum     atomic.Uint64
}

// Observe counts a value.
func (h *Histogram) Observe(v uint64) {
	i := 0
	if v > 1 {
		i = min(bits.Len64(v-1), len(h.buckets)-1)
	}
	h.buckets[i].Add(1)
	h.sum.Add(v)
}

// Snapshot returns the number of values, their sum, and how many were at most each
// upper bound.
func (h *Histogram) Snapshot() (count, sum uint64, upTo map[float64]uint64) {
	upTo = make(map[float64]uint64, len(h.buckets))
	for i := range h.buckets {
		count += h.buckets[i].Load()
		upTo[float64(uint64(1)<<i)] = count
	}
	return count, h.sum.Load(), upTo
}
