package route

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPausesAreCounted: what is late counts, once, before and after the round that finds it; what is usual does not.
func TestPausesAreCounted(t *testing.T) {
	p := pauses{begun: time.Now()}
	total := func(at time.Duration) time.Duration { return p.total(p.begun.Add(at)) }
	for now := time.Duration(0); now <= time.Second; now += pauseRound {
		p.round(now)
	}
	require.Zero(t, total(time.Second+pauseRound))
	require.Zero(t, total(time.Second+pauseLeast))
	require.Equal(t, 700*time.Millisecond-pauseRound, total(1700*time.Millisecond), "nobody has looked since")
	p.round(1700 * time.Millisecond)
	require.Equal(t, 700*time.Millisecond-pauseRound, total(1700*time.Millisecond))
	p.round(1750 * time.Millisecond)
	require.Equal(t, 700*time.Millisecond-pauseRound, total(1800*time.Millisecond))
}

// TestTimeInWhichThisProcessStoodStillIsNoTimeOut: the answers lie unread.
func TestTimeInWhichThisProcessStoodStillIsNoTimeOut(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(300 * time.Millisecond)
	key := f.key(1)
	held := make(chan *request, 1)
	f.play(func(r *request) { held <- r })
	result := runLater(t, c, set(key, "v"))
	r := <-held
	began := time.Now()
	c.pauses.lost.Add(int64(400 * time.Millisecond)) // as if it had stood still for so long
	require.Never(t, func() bool { return len(result) > 0 }, 400*time.Millisecond, 10*time.Millisecond)
	f.answer(r)
	require.Equal(t, []string{"+OK\r\n"}, texts(<-result))
	require.Less(t, time.Since(began), c.cfg.SlowTimeout)

	f.play(func(*request) {})
	require.Equal(t, []string{unknownOutcome}, texts(run(t, c, set(key, "v"))), "it runs, and there is no answer")
}
