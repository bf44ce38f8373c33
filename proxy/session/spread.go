package session

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// spreadSize is how many classes of times there are. The first ends at a microsecond, each other at twice the time of the one before, the last but one at nine minutes.
const spreadSize = 31

// spread counts calls by how long they took. It is what LATENCY HISTOGRAM and INFO latencystats are made of: a call costs one addition. Redis counts in finer classes, and
// shows these in LATENCY HISTOGRAM.
type spread [spreadSize]atomic.Uint64

// observe counts a call.
func (s *spread) observe(took time.Duration) {
	class := 0
	if took > spreadLeast {
		class = min(bits.Len64(uint64(took-1)/uint64(spreadLeast)), spreadSize-1)
	}
	s[class].Add(1)
}

// spreadLeast is where the first class ends, as in Redis.
const spreadLeast = 1024 * time.Nanosecond

func (s *spread) total() (n uint64) {
	for i := range s {
		n += s[i].Load()
	}
	return n
}

func (s *spread) reset() {
	for i := range s {
		s[i].Store(0)
	}
}

// classEnd is where a class ends: as Redis has it, whose classes are a hundredth wider.
func classEnd(class int) time.Duration {
	end := spreadLeast << class
	return end + end/128 - 1
}

// upTo returns the ends of the classes in which there are calls, in microseconds, and how many calls took no longer.
func (s *spread) upTo() (micros []int64, calls []uint64) {
	sum := uint64(0)
	for i := range s {
		if n := s[i].Load(); n > 0 {
			sum += n
			micros, calls = append(micros, classEnd(i).Microseconds()), append(calls, sum)
		}
	}
	return micros, calls
}

// percentile returns the end of the class of the call that so many percent of all calls took no longer than, 0 if there are none.
func (s *spread) percentile(percent float64) time.Duration {
	total := s.total()
	if total == 0 {
		return 0
	}
	wanted := max(uint64(percent/100*float64(total)+0.5), 1)
	sum := uint64(0)
	for i := range s {
		if sum += s[i].Load(); sum >= wanted {
			return classEnd(i)
		}
	}
	return classEnd(spreadSize - 1)
}
