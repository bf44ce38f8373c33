package wire

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Pace says whether a peer has become slow: its answers to pings take much longer than those of the
// fastest peer that could do its work. Its methods may be called from any goroutine.
type Pace struct{ slow atomic.Bool }

const (
	// A peer is slow from slowFactor times the fastest one's round trip and slowMargin on. Farther
	// away is not slow, nor is a process that had to wait for a processor for a moment.
	slowFactor = 4
	slowMargin = 50 * time.Millisecond
	// slowPings is how many answers in a row have to take so long. Where the processors are overloaded each process has to wait for one now and then,
	// and some answers of each are late: nobody would do the work sooner.
	slowPings = 8
)

// trips are the round trips of a link's last pings.
type trips struct {
	average atomic.Int64
	least   atomic.Int64             // of last, once there are so many
	last    [slowPings]time.Duration // of the link's reader, as is next
	next    int
}

// add notes a round trip.
func (t *trips) add(took time.Duration) {
	t.last[t.next%slowPings] = took
	if t.next++; t.next >= slowPings {
		t.least.Store(int64(slices.Min(t.last[:])))
	}
	if average := time.Duration(t.average.Load()); average > 0 {
		took = average + (took-average)/8
	}
	t.average.Store(int64(took))
}

// Compare judges n peers that could do the same work. at returns of each the link, the pace, and whether it answers, so
// that its round trip shows what is possible.
func Compare(n int, at func(i int) (link *Link, pace *Pace, answers bool)) {
	fastest := time.Duration(math.MaxInt64 / slowFactor / 2)
	for i := range n {
		if link, _, answers := at(i); answers && link.RTT() > 0 {
			fastest = min(fastest, link.RTT())
		}
	}
	for i := range n {
		link, pace, _ := at(i)
		pace.judge(&link.trips, fastest)
	}
}

// judge is given a peer's round trips, and the average of the fastest peer. A peer that is slow has to come down to half of the limit on average.
func (p *Pace) judge(t *trips, fastest time.Duration) {
	limit := int64(slowFactor*fastest + slowMargin)
	if p.slow.Load() {
		p.slow.Store(t.average.Load() > limit/2)
	} else if t.least.Load() > limit {
		p.slow.Store(true)
	}
}

// Slow returns the last judgement.
func (p *Pace) Slow() bool { return p.slow.Load() }
