package migrate

import (
	"context"
	"sync"
	"time"
)

// pace spreads the bytes of all workers evenly over time.
type pace struct {
	rate int64 // bytes each second, 0 for no bound
	mu   sync.Mutex
	due  time.Time // when the next ones may go
}

// wait waits until n more bytes may go.
func (p *pace) wait(ctx context.Context, n int) error {
	if p.rate == 0 {
		return ctx.Err()
	}
	p.mu.Lock()
	now := time.Now()
	at := p.due
	if at.Before(now) {
		at = now
	}
	p.due = at.Add(time.Duration(float64(n) / float64(p.rate) * float64(time.Second)))
	p.mu.Unlock()
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
