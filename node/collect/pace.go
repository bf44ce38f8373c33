package collect

import (
	"context"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/clock"
)

// DefaultRate is how many bytes a node collects in a second where nobody says otherwise.
const DefaultRate = 50 << 20

const (
	// paceStep is how often it is looked whether to go on: the rate may be another one by then.
	paceStep = 20 * time.Millisecond
	// yieldMost is how long a page waits for commands, which come first. A node that is busy for ever collects a page at a time all the same: to move
	// slots away may be what helps it.
	yieldMost = time.Second
	// ahead is for how long a node may take what it could have taken before. Without it every moment in which nobody answered would be lost: slots are
	// asked for one page after the other, and who answers has commands to execute, too.
	ahead = 50 * time.Millisecond
	// meterStep is the time over which the rate is measured.
	meterStep = 2 * time.Second
)

// bucket bounds bytes in a second. What was taken is paid for afterwards, before any more.
type bucket struct {
	mu   sync.Mutex
	rate int64
	debt float64 // bytes, as of at; below zero they may be taken at once
	at   time.Time

	// What was taken: all of it, since when it is measured, and what came of the measurement before.
	taken, since int64
	sinceAt      time.Time
	measured     int64
}

// set sets the rate.
func (b *bucket) set(rate int64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pay(now)
	b.rate = rate
}

// pay lets the debt melt.
func (b *bucket) pay(now time.Time) {
	b.debt = max(-ahead.Seconds()*float64(b.rate), b.debt-now.Sub(b.at).Seconds()*float64(b.rate))
	b.at = now
}

// take takes some bytes.
func (b *bucket) take(n int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pay(now)
	b.debt += float64(n)
	b.measure(now)
	b.taken += int64(n)
	b.since += int64(n)
}

// measure ends a measurement that is due.
func (b *bucket) measure(now time.Time) {
	if took := now.Sub(b.sinceAt); took >= meterStep {
		b.measured, b.since, b.sinceAt = int64(float64(b.since)/took.Seconds()), 0, now
	}
}

// due is how long it takes until the debt is paid.
func (b *bucket) due(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pay(now)
	return max(0, time.Duration(b.debt/float64(b.rate)*float64(time.Second)))
}

// total returns the bytes that were taken, and how many in a second of late.
func (b *bucket) total(now time.Time) (bytes, rate int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.measure(now)
	return b.taken, b.measured
}

// pace waits until there is time for more.
func (c *Collector) pace(ctx context.Context) error {
	for began := time.Now(); ; {
		now := time.Now()
		due := c.bucket.due(now)
		if due == 0 && (!c.node.Busy() || now.Sub(began) >= yieldMost) {
			return context.Cause(ctx)
		}
		if due == 0 || due > paceStep {
			due = paceStep
		}
		if !clock.Sleep(ctx, due) {
			return context.Cause(ctx)
		}
	}
}
