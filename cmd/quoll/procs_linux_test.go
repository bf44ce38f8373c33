package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIdleTimeIsOfAllCores(t *testing.T) {
	idle, ok := idleOf("cpu  100 20 30 4000 500 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
	require.True(t, ok)
	require.Equal(t, 45*time.Second, idle)
	for _, wrong := range []string{"", "cpu\n", "cpu0 1 2 3 4 5 6\n", "cpu 1 2 3 x 5 6\n", "cpu 1 2 3 4 x 6\n"} {
		_, ok := idleOf(wrong)
		require.False(t, ok, wrong)
	}
}

// TestWhatIsUsedGrows: this process uses cores as long as it looks.
func TestWhatIsUsedGrows(t *testing.T) {
	before, ok := coresUsed()
	require.True(t, ok)
	for {
		after, ok := coresUsed()
		require.True(t, ok)
		require.GreaterOrEqual(t, after.idle, before.idle)
		if after.own > before.own && after.at.After(before.at) {
			return
		}
	}
}
