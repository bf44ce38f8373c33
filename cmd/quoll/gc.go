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
// much gets half as much, and not once as much as is the default: nearly all of it are values and pages of the table, in
// which there are no pointers, and hardly any of them become garbage. Near the end of the memory it collects more often:
// the rest is for what the system keeps of files.
//
// A collection looks only at memory with pointers in it. Where that is little, as with large values,
// collecting often costs next to nothing, and new memory, page by page, a lot: such a node gets gcWorth bytes
// for each byte that a collection looks at, and gcSmall at least.
const (
	gcSlack   = 1 << 30  // bytes
	gcSmall   = 64 << 20 // bytes
	gcWorth   = 8
	gcLeast   = 50 // percent of what lives
	gcMost    = 400
	gcLooking = 250 * time.Millisecond
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
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	for pace := 0; ; {
		metrics.Read(heap)
		// To set it stops the process for a moment.
		if percent := gcPercent(heap[0].Value.Uint64(), heap[1].Value.Uint64(), slack); percent != pace {
			pace = percent
			debug.SetGCPercent(pace)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// gcPercent is how much of what lives may be added before the next collection, if so much of
// it has to be looked at. It goes in steps, so as not to be another one all the time.
func gcPercent(live, scanned, slack uint64) int {
	if live == 0 {
		return gcMost
	}
	slack = min(slack, max(gcSmall, gcWorth*scanned))
	return int(max(gcLeast, min(gcMost, slack*10/live*10)))
}
