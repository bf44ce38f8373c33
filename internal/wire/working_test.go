package wire

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/pipes"
)

// TestBusyPeerIsNotSuspect: a peer that handles frames for seconds answers no pings meanwhile. It is not taken for one
// that hangs, and who waits for its answer can see why.
func TestBusyPeerIsNotSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		handler.gate = make(chan struct{})
		serve(t, listener, ServerConfig{Handler: handler})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		require.Equal(t, Up, <-link.states)
		time.Sleep(time.Second)
		require.False(t, link.Working(), "there is nothing to do")

		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, []byte("slow"))))
		time.Sleep(longestTurn - time.Second)
		synctest.Wait()
		require.Empty(t, link.states)
		require.True(t, link.Working())

		handler.gate <- struct{}{}
		require.Equal(t, "slow", <-link.frames)
		time.Sleep(time.Second)
		require.Empty(t, link.states)
		require.False(t, link.Working())
	})
}

// TestHandlerThatNeverReturnsIsNoWork: it is not reported as working for ever.
func TestHandlerThatNeverReturnsIsNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		handler.gate = make(chan struct{})
		serve(t, listener, ServerConfig{Handler: handler})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		require.Equal(t, Up, <-link.states)
		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, nil)))
		begun := time.Now()
		require.Equal(t, Suspect, <-link.states)
		require.Greater(t, time.Since(begun), longestTurn)
		require.Less(t, time.Since(begun), longestTurn+time.Second)
		time.Sleep(workingFor)
		require.False(t, link.Working())
		close(handler.gate)
		require.Equal(t, Up, <-link.states)
	})
}

// TestServerSaysWhatItsOwnerSays: that answers take long, or that nothing goes on.
func TestServerSaysWhatItsOwnerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		var working, stuck atomic.Bool
		serve(t, listener, ServerConfig{Working: working.Load, Stuck: stuck.Load})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		require.Equal(t, Up, <-link.states)
		working.Store(true)
		time.Sleep(2 * progressInterval)
		synctest.Wait()
		require.True(t, link.Working())

		stuck.Store(true)
		require.Equal(t, Suspect, <-link.states, "it looks as if it hung")
		time.Sleep(workingFor)
		require.False(t, link.Working())

		stuck.Store(false)
		require.Equal(t, Up, <-link.states)
	})
}

// TestBusyDialerIsNoSilence: who handles frames for long hears nothing meanwhile, and must not take that for the silence of
// its peer.
func TestBusyDialerIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		serve(t, listener, ServerConfig{})
		busy := make(chan struct{})
		states := make(chan State, 100)
		link := NewLink(LinkConfig{
			Options: Options{Logger: quiet},
			Dial:    listener.Dial,
			OnFrame: func(FrameType, []byte, time.Duration) { <-busy },
			OnState: func(s State) { states <- s },
		})
		link.Start(t.Context())
		defer link.Close()
		require.Equal(t, Up, <-states)
		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, nil)))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Empty(t, states)
		close(busy)
		time.Sleep(10 * time.Second)
		require.Empty(t, states)
	})
}
