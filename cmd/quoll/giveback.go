package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// What was needed for a moment goes back to the system. Go's runtime does that, but only with what a collection has found to be
// free, which is every two minutes where hardly anything is allocated any more, and then with a hundredth of a processor, which on a busy machine
// is next to nothing, and not all.
const (
	giveLooking = 2 * time.Second
	// giveQuiet is how long there may be no collection while the heap is larger than giveLeast, unless a collection has a lot
	// to look at. Who has allocated so little needs nothing of what is free.
	giveQuiet   = 10 * time.Second
	giveLeast   = 64 << 20 // bytes
	giveScanned = 64 << 20 // bytes
	// giveSurplus is for how long there is to be more than the collector's goal, and a quarter, and giveSlack: it may be used soon.
	giveSurplus = 6 * time.Second
	giveSlack   = 64 << 20 // bytes
)

// footprint is what the heap takes, in bytes.
type footprint struct {
	mapped      uint64 // of the system's memory
	goal        uint64 // at which the next collection begins
	scanned     uint64 // what a collection looks at
	collections uint64 // so far
}

// giver decides when memory is given back.
type giver struct {
	collections uint64
	collected   time.Time // when there was a collection last
	modest      time.Time // when there was no surplus last
}

// look reports whether to collect now, and to give back all that is free then.
func (g *giver) look(now time.Time, f footprint) bool {
	if f.collections != g.collections || g.collected.IsZero() {
		g.collections, g.collected = f.collections, now
	}
	if f.mapped <= f.goal+f.goal/4+giveSlack || g.modest.IsZero() {
		g.modest = now
	}
	surplus := now.Sub(g.modest) >= giveSurplus
	if surplus {
		g.modest = now
	}
	quiet := now.Sub(g.collected) >= giveQuiet && f.mapped > giveLeast && f.scanned <= giveScanned
	return surplus || quiet
}

// giveBack gives memory back until ctx is done.
func giveBack(ctx context.Context) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/heap/goal:bytes"}, {Name: "/gc/scan/heap:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	ticker := time.NewTicker(giveLooking)
	defer ticker.Stop()
	var g giver
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		metrics.Read(samples)
		if g.look(time.Now(), footprint{mapped: value(0) + value(1) + value(2), goal: value(3), scanned: value(4), collections: value(5)}) {
			debug.FreeOSMemory()
		}
	}
}
