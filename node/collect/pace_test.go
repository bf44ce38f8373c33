package collect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhatCouldNotBeTakenIsTakenLater: a node that had to wait for answers takes up what it has missed of the rate, for some milliseconds and not more.
func TestWhatCouldNotBeTakenIsTakenLater(t *testing.T) {
	const rate = 1 << 20
	now := time.Unix(1e9, 0)
	var b bucket
	b.set(rate, now)
	take := func() (taken int) {
		for b.due(now) == 0 {
			b.take(rate/1000, now)
			taken++
		}
		return taken
	}
	milliseconds := int(ahead / time.Millisecond)
	require.LessOrEqual(t, take(), 2, "there was nothing to take before")
	require.LessOrEqual(t, b.due(now), 2*time.Millisecond)
	taken := 0
	for range 100 { // it goes on when 30 milliseconds are over that nobody answered in, each time
		now = now.Add(30 * time.Millisecond)
		taken += take()
	}
	require.InDelta(t, 3000, taken, 5, "none of it is lost")
	now = now.Add(time.Hour)
	require.InDelta(t, milliseconds, take(), 2)
	b.take(rate, now)
	require.InDelta(t, time.Second, b.due(now), float64(5*time.Millisecond))
}
