package wire

import (
	"math"
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
)

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
		pace.judge(link.RTT(), fastest)
	}
}

// judge is given round trips. A peer that is slow has to come down to half of the limit.
func (p *Pace) judge(rtt, fastest time.Duration) {
	limit := slowFactor*fastest + slowMargin
	if p.slow.Load() {
		limit /= 2
	}
	p.slow.Store(rtt > limit)
}

// Slow returns the last judgement.
func (p *Pace) Slow() bool { return p.slow.Load() }
