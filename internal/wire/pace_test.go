package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPace: a peer becomes slow when all its answers of a while take much longer than those of the fastest one, and has to come down
// to half of that.
func TestPace(t *testing.T) {
	var p Pace
	var trips trips
	for _, step := range []struct {
		rtt, fastest time.Duration
		pings        int
		slow         bool
	}{
		{0, 0, 0, false}, // not known
		{50 * time.Millisecond, time.Millisecond, 100, false},
		{55 * time.Millisecond, time.Millisecond, slowPings - 1, false},
		{55 * time.Millisecond, time.Millisecond, 1, true},
		{28 * time.Millisecond, time.Millisecond, 100, true}, // on its way down
		{26 * time.Millisecond, time.Millisecond, 100, false},
		{28 * time.Millisecond, time.Millisecond, 100, false},
		{200 * time.Millisecond, 60 * time.Millisecond, 100, false}, // all are far away
		{300 * time.Millisecond, 60 * time.Millisecond, 100, true},
	} {
		for range step.pings {
			trips.add(step.rtt)
		}
		p.judge(&trips, step.fastest)
		require.Equal(t, step.slow, p.Slow(), "%+v", step)
	}
}

// TestWhoWaitsForAProcessorIsNotSlow: most answers are late, now and then one is not, as of a process on an overloaded machine.
func TestWhoWaitsForAProcessorIsNotSlow(t *testing.T) {
	var p Pace
	var trips trips
	for i := range 1000 {
		took := time.Duration(i%7) * 150 * time.Millisecond
		trips.add(max(took, time.Millisecond))
		p.judge(&trips, 2*time.Millisecond)
		require.False(t, p.Slow(), "answer %d", i)
	}
}
