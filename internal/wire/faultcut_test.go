//go:build faults

package wire

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/pipes"
)

// TestOneWayCut: whichever direction is cut, the dialer notices, and both ends let go
// of the connection; no other comes about before it is healed, and then it does.
func TestOneWayCut(t *testing.T) {
	for _, receiver := range []string{"server", "dialer"} {
		t.Run(receiver, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener, handler := pipes.Listen(), newEcho()
				serve(t, listener, ServerConfig{Handler: handler})
				link := connect(t, LinkConfig{Dial: listener.Dial, Address: "server"})
				require.Equal(t, Up, <-link.states)
				time.Sleep(time.Second)

				inject(t, 1, FaultRule{Peer: receiver, Cut: true})
				cut := time.Now()
				require.Equal(t, Suspect, <-link.states)
				require.InDelta(t, 300*time.Millisecond, time.Since(cut), float64(100*time.Millisecond))
				require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, []byte("lost"))))
				require.ErrorIs(t, <-link.down, ErrSilent)
				require.Equal(t, Down, <-link.states)
				require.InDelta(t, 5*time.Second, time.Since(cut), float64(200*time.Millisecond))
				require.Error(t, <-handler.ended, "the server lets go, too")

				time.Sleep(time.Minute)
				synctest.Wait()
				require.Empty(t, link.states)
				require.Empty(t, handler.ended)
				require.Positive(t, counters(t).Dropped)
				require.Error(t, link.Err())

				InjectFaults(0, nil)
				healed := time.Now()
				require.Equal(t, Up, <-link.states)
				require.LessOrEqual(t, time.Since(healed), 7*time.Second, "a handshake's time, and a pause")
				require.Empty(t, link.frames, "what was cut off is lost")
			})
		})
	}
}

// TestShortCutCostsNoConnection: a cut that ends before the peer is given up.
func TestShortCutCostsNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		require.Equal(t, Up, <-link.states)
		inject(t, 1, FaultRule{Peer: "*", Cut: true})
		require.Equal(t, Suspect, <-link.states)
		InjectFaults(0, nil)
		require.Equal(t, Up, <-link.states)
		link.send(t, typeEcho, 1)
		require.Equal(t, "0", <-link.frames)
		require.Empty(t, link.down)
	})
}

// TestStrangersAreCutByRulesForAll: before a peer was ever met, only a rule for all
// names and roles concerns it.
func TestStrangersAreCutByRulesForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inject(t, 1, FaultRule{Peer: "*", Cut: true})
		listener := pipes.Listen()
		serve(t, listener, ServerConfig{})
		link := connect(t, LinkConfig{Dial: listener.Dial, Address: "server"})
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, link.up)
		InjectFaults(1, []FaultRule{{Peer: "", Cut: true}, {Peer: "other", Cut: true}, {Peer: "*", Role: RoleTool, Cut: true}})
		<-link.up
	})
}

// TestServerNeverHearsThatItIsWanted: the last frame of a handshake is lost. The dialer
// cannot know, and believes in the connection until pings go unanswered; the server never
// opens it.
func TestServerNeverHearsThatItIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inject(t, 1, FaultRule{Peer: "server", Cut: true})
		listener, handler := pipes.Listen(), newEcho()
		serve(t, listener, ServerConfig{Handler: handler})
		link := connect(t, LinkConfig{Dial: listener.Dial, Address: "server"}) // never met: it can say hello
		began := time.Now()
		require.Equal(t, []State{Up, Suspect, Down}, []State{<-link.states, <-link.states, <-link.states})
		require.LessOrEqual(t, time.Since(began), 5*time.Second+200*time.Millisecond)
		require.Error(t, <-link.down)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, handler.opened)
		require.Empty(t, link.states, "from then on it is known, and cut from the first byte")
		InjectFaults(0, nil)
		require.Equal(t, Up, <-link.states)
		<-handler.opened
	})
}

// TestSlowLinkIsUp: a peer that is far away answers late, but it answers.
func TestSlowLinkIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		require.Equal(t, Up, <-link.states)
		inject(t, 1, FaultRule{Peer: "server", Delay: time.Second}, FaultRule{Peer: "dialer", Delay: time.Second})
		require.Equal(t, Suspect, <-link.states, "as long as nothing comes")
		require.Equal(t, Up, <-link.states)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, link.states)
		require.InDelta(t, 2*time.Second, link.RTT(), float64(200*time.Millisecond))
	})
}

// TestLossyLinkStaysUp: single lost pings cost no connection.
func TestLossyLinkStaysUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		inject(t, 3, FaultRule{Peer: "*", Drop: 0.1})
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, link.down)
		require.EqualValues(t, 1, link.Generation())
		require.Positive(t, counters(t).Dropped)
	})
}
