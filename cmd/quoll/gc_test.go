package main

import (
	"context"
	"math"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node/engine/arena"
)

func TestHeapLimit(t *testing.T) {
	require.EqualValues(t, 3<<30, heapLimit(4<<30, 1<<30))
	require.EqualValues(t, leastHeap, heapLimit(1<<30, 1<<30), "the collector would not end")
}

// TestWhatArenasTakeIsNotGos: together they keep within the bound.
func TestWhatArenasTakeIsNotGos(t *testing.T) {
	formerPercent, formerLimit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	defer func() { debug.SetGCPercent(formerPercent); debug.SetMemoryLimit(formerLimit) }()
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); boundHeap(ctx, keeping{4 * config.GiB, 123, false, false}) }()
	limited := func() bool {
		off := int64(4*config.GiB) - arena.OffHeap() - debug.SetMemoryLimit(-1)
		return math.Abs(float64(off)) <= limitStep
	}
	require.Eventually(t, limited, 10*time.Second, time.Millisecond)
	a := arena.New()
	defer a.Release()
	for range 100 << 20 >> 10 {
		a.Get(1 << 10)
	}
	require.Eventually(t, limited, 10*time.Second, time.Millisecond)
	cancel()
	<-done
	require.Equal(t, 123, debug.SetGCPercent(-1))
}
