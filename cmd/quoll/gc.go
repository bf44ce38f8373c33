package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/quolldb/quoll/internal/config"
)

// The garbage collector's pace. A node that holds little collects often with Go's
// default, for nothing: it may use up to gcSlack of memory beyond what lives, or an eighth of the
// memory that there is if that is less, but no more than gcMost times as much. A node that holds
// much gets the default, once as much. Near the end of the memory it collects more often:
// the rest is for what the system keeps of files.
const (
	gcSlack   = 1 << 30 // bytes
	gcLeast   = 100     // percent of what lives
	gcMost    = 400
	gcLooking = 2 * time.Second
)

// paceGC keeps the pace until ctx is done, unless the environment sets one (GOGC or
// GOMEMLIMIT).
func paceGC(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	slack := uint64(gcSlack)
	if memory := uint64(config.AvailableMemory()); memory > 0 {
		slack = min(slack, memory/8)
		debug.SetMemoryLimit(int64(memory / 4 * 3))
	}
	ticker := time.NewTicker(gcLooking)
	defer ticker.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for {
		metrics.Read(live)
		debug.SetGCPercent(gcPercent(live[0].Value.Uint64(), slack))
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// gcPercent is how much of what lives may be added before the next collection.
func gcPercent(live, slack uint64) int {
	if live == 0 {
		return gcMost
	}
	return int(max(gcLeast, min(gcMost, slack*100/live)))
}
