package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const tick = 100 * time.Millisecond

func newHealth() *health {
	return &health{interval: tick, suspectAfter: 3 * tick, deadAfter: 50 * tick, state: Up}
}

func TestSilentPeerBecomesSuspectAndThenDead(t *testing.T) {
	h := newHealth()
	now, heard := time.Duration(0), time.Duration(0)
	for range 2 {
		now += tick
		require.True(t, h.tick(now, heard))
		h.ping()
		require.Equal(t, Up, h.state)
	}
	now += tick
	require.True(t, h.tick(now, heard))
	require.Equal(t, Suspect, h.state)
	for h.silence < 49*tick {
		now += tick
		require.True(t, h.tick(now, heard))
		require.Equal(t, Suspect, h.state)
	}
	require.False(t, h.tick(now+tick, heard))
}

func TestOnlyALaterPongEndsTheSuspicion(t *testing.T) {
	h := newHealth()
	old := h.ping()
	for i := range 3 {
		h.tick(time.Duration(i+1)*tick, 0)
	}
	require.Equal(t, Suspect, h.state)
	h.pong(old)
	require.Equal(t, Suspect, h.state, "the answer may have been under way all the time")
	h.tick(4*tick, 4*tick)
	require.Equal(t, Suspect, h.state, "nor do bytes end it")
	h.pong(h.sent + 1)
	require.Equal(t, Suspect, h.state, "an answer to nothing")
	h.pong(h.ping())
	require.Equal(t, Up, h.state)
}

func TestQuietPeerThatAnsweredIsNotSuspect(t *testing.T) {
	h := newHealth()
	h.pong(h.ping())
	h.tick(10*tick, 0)
	require.Equal(t, Up, h.state)
}

// TestOwnPauseIsNoSilence: a process that was stopped for a minute does not hold
// that minute against its peers.
func TestOwnPauseIsNoSilence(t *testing.T) {
	h := newHealth()
	h.tick(tick, tick)
	h.ping()
	require.True(t, h.tick(tick+time.Minute, tick))
	require.Equal(t, Up, h.state)
	require.True(t, h.tick(time.Minute+2*tick, tick))
	require.Equal(t, Suspect, h.state, "but from then on silence counts")
}

// TestWhoHasBeenLateMayBeLate: a peer that is silent for a moment again and again, and comes back, is suspected once, and not twice. That is forgotten after a while,
// and a peer that does not come back is suspected even so.
func TestWhoHasBeenLateMayBeLate(t *testing.T) {
	h := newHealth()
	now := time.Duration(0)
	silent := func(ticks int) State { // and what became of the peer
		heard := now
		for range ticks {
			now += tick
			h.ping()
			require.True(t, h.tick(now, heard))
		}
		return h.state
	}
	answer := func(ticks int) {
		for range ticks {
			now += tick
			h.pong(h.ping())
			require.True(t, h.tick(now, now))
		}
		require.Equal(t, Up, h.state)
	}
	require.Equal(t, Suspect, silent(4), "the first time")
	for range 20 {
		answer(5)
		require.Equal(t, Up, silent(4))
	}
	answer(5)
	require.Equal(t, Suspect, silent(6), "twice as long is too long")
	answer(fading)
	require.Equal(t, Suspect, silent(4), "it was well for a while")
}
