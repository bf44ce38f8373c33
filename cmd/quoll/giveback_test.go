package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMemoryIsGivenBackSoon plays a process whose clients leave garbage and then do nothing: gigabytes, or what the collector's goal allows.
// Go's runtime gives nothing back by itself, as where others take all processors.
func TestMemoryIsGivenBackSoon(t *testing.T) {
	for _, f := range []footprint{
		{mapped: 5 << 30, goal: 6 << 30, scanned: 1 << 20, collections: 7},
		{mapped: 5 << 30, goal: 100 << 20, scanned: 1 << 20, collections: 7},
		{mapped: 180 << 20, goal: 100 << 20, scanned: 1 << 20, collections: 7},
	} {
		var g giver
		now := time.Unix(1000, 0)
		left := now
		for ; f.mapped > 50<<20; now = now.Add(giveLooking) {
			require.LessOrEqual(t, now.Sub(left), 15*time.Second)
			if g.look(now, f) {
				f.mapped, f.goal, f.collections = 50<<20, 100<<20, f.collections+1
			}
		}
		for range 100 { // and then there is nothing to do
			now = now.Add(giveLooking)
			require.False(t, g.look(now, f))
		}
	}
}

// TestMemoryInUseIsKept: a busy process, one with a large heap to look at, and one that needs the memory again soon.
func TestMemoryInUseIsKept(t *testing.T) {
	for what, at := range map[string]func(i int) footprint{
		"busy": func(i int) footprint {
			return footprint{mapped: 3 << 30, goal: 3 << 30, scanned: 1 << 20, collections: uint64(i)}
		},
		"much to look at": func(int) footprint { return footprint{mapped: 3 << 30, goal: 3 << 30, scanned: 1 << 30} },
		"in waves": func(i int) footprint {
			return footprint{mapped: uint64(1+i%3) << 30, goal: 1 << 30, scanned: 1 << 20, collections: uint64(i)}
		},
		"small": func(int) footprint { return footprint{mapped: 50 << 20, goal: 50 << 20} },
	} {
		var g giver
		now := time.Unix(1000, 0)
		for i := range 1000 {
			now = now.Add(giveLooking)
			require.False(t, g.look(now, at(i)), what)
		}
	}
}
