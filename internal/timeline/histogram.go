package timeline

import (
	"math"
	"math/bits"
	"time"
)

// histogram counts latencies in microseconds, up to two minutes, in buckets whose width grows with the value: sixteen to each
// power of two. A library's histogram would hold ten times as much, and there is one for each interval of a run.
type histogram [buckets]uint32

const (
	perPower   = 16
	powers     = 27
	longest    = 1<<powers - 1
	buckets    = (powers - 3) * perPower
	perPowerLg = 4
)

func (h *histogram) add(latency time.Duration) {
	h[bucketOf(uint64(min(max(0, latency.Microseconds()), longest)))]++
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other {
		h[i] += n
	}
}

// percentile returns the middle of the bucket in which the share q is reached.
func (h *histogram) percentile(q float64) time.Duration {
	var total uint64
	for _, n := range h {
		total += uint64(n)
	}
	rank := max(1, uint64(math.Ceil(q*float64(total))))
	var seen uint64
	for i, n := range h {
		if seen += uint64(n); seen >= rank {
			return middle(i)
		}
	}
	return 0
}

// bucketOf: below 32 each value has a bucket, above that the five leading bits of it.
func bucketOf(micros uint64) int {
	shift := max(0, bits.Len64(micros)-perPowerLg-1)
	return shift*perPower + int(micros>>shift)
}

// middle is the latency in the middle of a bucket.
func middle(bucket int) time.Duration {
	shift := max(0, bucket/perPower-1)
	low := uint64(bucket-shift*perPower) << shift
	return time.Duration(low)*time.Microsecond + time.Duration((uint64(1)<<shift-1)*uint64(time.Microsecond)/2)
}
