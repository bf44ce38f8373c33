package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	var p Pace
	for _, step := range []struct {
		rtt, fastest time.Duration
		slow         bool
	}{
		{0, 0, false}, // not known
		{50 * time.Millisecond, time.Millisecond, false},
		{55 * time.Millisecond, time.Millisecond, true},
		{28 * time.Millisecond, time.Millisecond, true}, // on its way down
		{26 * time.Millisecond, time.Millisecond, false},
		{28 * time.Millisecond, time.Millisecond, false},
		{200 * time.Millisecond, 60 * time.Millisecond, false}, // all are far away
		{300 * time.Millisecond, 60 * time.Millisecond, true},
	} {
		p.judge(step.rtt, step.fastest)
		require.Equal(t, step.slow, p.Slow(), "%+v", step)
	}
}
