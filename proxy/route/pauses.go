package route

import (
	"context"
	"sync/atomic"
	"time"
)

// pauses counts the time in which this process did not run: it was stopped, or had no processor, or collected garbage.
// Answers that came meanwhile lie unread, so operations are given that time on top of theirs: to take them for
// lost would be to blame others for what happened here.
type pauses struct {
	begun time.Time
	seen  atomic.Int64 // the last round, in nanoseconds from begun
	lost  atomic.Int64
}

const (
	// pauseRound is how often it is looked, and pauseLeast from which delay of a round on it counts.
	pauseRound = 50 * time.Millisecond
	pauseLeast = 100 * time.Millisecond
)

// watch looks until ctx ends.
func (p *pauses) watch(ctx context.Context) {
	ticker := time.NewTicker(pauseRound)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.round(time.Since(p.begun))
		}
	}
}

// round notes that the process runs at a time from begun.
func (p *pauses) round(now time.Duration) {
	p.lost.Add(int64(p.late(now)))
	p.seen.Store(int64(now))
}

// late returns for how long the round is late that comes next.
func (p *pauses) late(now time.Duration) time.Duration {
	if late := now - time.Duration(p.seen.Load()) - pauseRound; late >= pauseLeast {
		return late
	}
	return 0
}

// total returns how much time was lost up to now. Calls at two times tell what was lost between them.
func (p *pauses) total(now time.Time) time.Duration {
	return time.Duration(p.lost.Load()) + p.late(now.Sub(p.begun))
}
