package main

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node/engine/arena"
)

// How much of what lives on Go's heap may be added before a collection, in percent. The tables of a node are not on it
// but in an arena: what is left of its data are values above 1 KiB, which a collection does not look at. A proxy holds
// next to nothing for long, and a collection for every few megabytes would be for nothing.
const (
	gcNode  = 100
	gcProxy = 400
)

const (
	// limitLooking is how often it is looked what the arenas take, limitStep how much more or less is worth a word to Go.
	limitLooking = 100 * time.Millisecond
	limitStep    = 16 << 20 // bytes
	// leastHeap is what Go's heap may take in any case: with less the collector would not end.
	leastHeap = 64 << 20 // bytes
)

// keeping is how a process is kept within its bounds: that of its memory, the pace of the garbage collector, gcNode or gcProxy,
// whether its heap is to be in huge pages, and whether it runs fewer threads where cores are shared.
type keeping struct {
	memory      config.Size
	percent     int
	hugePages   bool
	sharesCores bool
}

// boundHeap keeps the memory of the process within a bound until ctx is done: what Go's heap and the arenas take together. GOGC and GOMEMLIMIT in
// the environment say otherwise.
func boundHeap(ctx context.Context, bound keeping) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(bound.percent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	ticker := time.NewTicker(limitLooking)
	defer ticker.Stop()
	for limit := int64(math.MaxInt64); ; {
		if now := heapLimit(int64(bound.memory), arena.OffHeap()); now < limit-limitStep || now > limit+limitStep {
			limit = now
			debug.SetMemoryLimit(limit)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// heapLimit is what Go may take of so many bytes, if so many are not its.
func heapLimit(memory, elsewhere int64) int64 { return max(leastHeap, memory-elsewhere) }
