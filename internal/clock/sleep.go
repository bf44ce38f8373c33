package clock

import (
	"context"
	"time"
)

// Sleep waits, and reports false if ctx ended meanwhile.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Await waits until something is so, or ctx ends.
func Await(ctx context.Context, is func() bool) {
	for !is() && Sleep(ctx, time.Millisecond) {
	}
}
