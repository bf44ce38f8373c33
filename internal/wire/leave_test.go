package wire

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/pipes"
)

// TestLeavingServerAnswersWhatItWasAsked: what was sent before the link heard of it arrives and is
// answered, what comes later is not sent at all.
func TestLeavingServerAnswersWhatItWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		handler.gate = make(chan struct{})
		server := serve(t, listener, ServerConfig{Handler: handler})
		link := connect(t, LinkConfig{Dial: listener.Dial, MaxBackoff: time.Hour, MinBackoff: time.Hour})
		<-link.up
		require.Equal(t, Up, <-link.states)
		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, []byte("asked"))))
		left := make(chan struct{})
		go func() {
			defer close(left)
			server.Leave(context.Background())
		}()
		synctest.Wait()
		require.Equal(t, Leaving, <-link.states)
		require.ErrorIs(t, link.SendFrames(appendFrame(nil, typeEcho, []byte("late"))), ErrDown)
		require.Empty(t, left, "the request has not been read")

		time.Sleep(3 * time.Second) // the link goes on looking after the peer
		close(handler.gate)
		<-left
		require.Equal(t, "asked", <-link.frames)
		require.Equal(t, Leaving, link.State())
		require.Empty(t, link.down, "the connection ends with Shutdown")
		server.Shutdown(context.Background())
		require.Error(t, <-link.down)
		require.Equal(t, Down, <-link.states)
		require.Empty(t, link.frames)
	})
}

// TestLeaveWaitsForNobodyForEver: a peer that does not say goodbye is left behind.
func TestLeaveWaitsForNobodyForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		server := serve(t, listener, ServerConfig{})
		conn, err := listener.Dial(t.Context(), "")
		require.NoError(t, err)
		p := client(t, conn)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		go server.Leave(ctx)
		f, err := p.in.next()
		require.NoError(t, err)
		require.Equal(t, frameLeaving, f.typ)
		server.Leave(ctx)
		require.Equal(t, time.Second, time.Since(began))
		_, err = listener.Dial(t.Context(), "")
		require.Error(t, err, "nobody is let in any more")
	})
}
