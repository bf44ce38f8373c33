package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/pipes"
)

func TestFramesGoThereAndBack(t *testing.T) {
	listener := loopback(t)
	handler := newEcho()
	server := serve(t, listener, ServerConfig{Handler: handler, Options: Options{Secret: []byte("s")}})
	link := connect(t, LinkConfig{Address: listener.Addr().String(), Options: Options{Secret: []byte("s")}})
	require.EqualValues(t, 1, <-link.up)
	require.Equal(t, Up, <-link.states)
	require.NoError(t, link.Err())

	batch := appendFrame(nil, typeEcho, []byte("one"))
	batch = appendFrame(batch, typeEcho, []byte("two"))
	require.NoError(t, link.SendFrames(batch))
	require.NoError(t, link.SendFramesOn(1, appendFrame(nil, typeEcho, nil)))
	require.ErrorIs(t, link.SendFramesOn(2, batch), ErrDown)
	require.ErrorIs(t, link.SendFrames(batch[1:]), ErrFrame)
	for _, want := range []string{"one", "two", ""} {
		require.Equal(t, want, <-link.frames)
	}

	server.Close()
	require.ErrorIs(t, <-handler.ended, ErrClosed)
	require.Error(t, <-link.down)
	require.Equal(t, Down, <-link.states)
	require.ErrorIs(t, link.SendFrames(batch), ErrDown)
}

func TestLinkConnectsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var conns []net.Conn
		listener := pipes.Listen()
		link := connect(t, LinkConfig{Dial: func(ctx context.Context, _ string) (net.Conn, error) {
			conn, err := listener.Dial(ctx, "")
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, conn)
			return conn, err
		}})
		// Nobody listens: dialing goes on, in the rhythm of its time-out and back-off.
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.InDelta(t, 7, len(conns), 2)
		require.Error(t, link.Err())
		require.Equal(t, Down, link.State())
		require.Zero(t, link.Generation())

		serve(t, listener, ServerConfig{})
		require.EqualValues(t, 1, <-link.up)
		time.Sleep(10 * time.Second)

		// A lost connection is replaced at once.
		lost := time.Now()
		mu.Lock()
		conns[len(conns)-1].Close()
		mu.Unlock()
		require.Error(t, <-link.down)
		require.EqualValues(t, 2, <-link.up)
		require.EqualValues(t, 2, link.Generation())
		require.Less(t, time.Since(lost), 20*time.Millisecond)
		require.Equal(t, []State{Up, Down, Up}, []State{<-link.states, <-link.states, <-link.states})
	})
}

func TestLinkSaysWhyItIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		serve(t, listener, ServerConfig{Accept: func(peer Hello) (Hello, error) {
			return Hello{}, errors.New("no room for " + peer.Name)
		}})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		time.Sleep(time.Second)
		require.ErrorIs(t, link.Err(), ErrRefused)
		require.ErrorContains(t, link.Err(), "no room for dialer")
		require.Empty(t, link.up)
	})
}

func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		handler.gate = make(chan struct{})
		serve(t, listener, ServerConfig{Handler: handler})
		link := connect(t, LinkConfig{
			Dial: listener.Dial, Options: Options{MaxPending: 1 << 20}, DeadAfter: time.Hour,
		})
		<-link.up
		// The server reads one buffer and then stops reading.
		one := appendFrame(nil, typeEcho, make([]byte, 100<<10))
		sent := 0
		for ; sent < 1000; sent++ {
			if err := link.SendFrames(one); err != nil {
				require.ErrorIs(t, err, ErrBacklog)
				break
			}
			synctest.Wait()
		}
		require.InDelta(t, 12, sent, 2)
		require.ErrorIs(t, link.SendFrames(one), ErrBacklog)

		close(handler.gate)
		for range sent {
			require.Len(t, <-link.frames, 100<<10)
		}
		require.NoError(t, link.SendFrames(one), "there is room again")
		require.Empty(t, link.down)
	})
}

// frozen is a connection whose reads can be stopped, like those of a process
// that got SIGSTOP.
type frozen struct {
	net.Conn
	mu   sync.Mutex
	thaw chan struct{}
}

func (f *frozen) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	f.mu.Lock()
	thaw := f.thaw
	f.mu.Unlock()
	if thaw != nil {
		<-thaw
	}
	return n, err
}

func (f *frozen) freeze() chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thaw = make(chan struct{})
	return f.thaw
}

// freezable is a listener whose connections can be frozen.
type freezable struct {
	*pipes.Listener
	accepted chan *frozen
}

func (f *freezable) Accept() (net.Conn, error) {
	conn, err := f.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &frozen{Conn: conn}
	f.accepted <- c
	return c, nil
}

func TestStoppedPeerIsSuspectUntilItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := &freezable{pipes.Listen(), make(chan *frozen, 10)}
		serve(t, listener, ServerConfig{})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		require.Equal(t, Up, <-link.states)
		conn := <-listener.accepted
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, link.states, "an idle link stays up")

		stopped := time.Now()
		thaw := conn.freeze()
		require.Equal(t, Suspect, <-link.states)
		require.InDelta(t, 350*time.Millisecond, time.Since(stopped), float64(60*time.Millisecond))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Equal(t, Suspect, link.State())
		require.Empty(t, link.states)

		resumed := time.Now()
		conn.mu.Lock()
		conn.thaw = nil
		conn.mu.Unlock()
		close(thaw)
		require.Equal(t, Up, <-link.states)
		require.LessOrEqual(t, time.Since(resumed), 100*time.Millisecond)
		require.Empty(t, link.down)
	})
}

// inProcess is a connection with a peer in this process.
type inProcess struct{ net.Conn }

func (inProcess) SameProcess() {}

func TestAPeerInThisProcessIsNotSuspectForASecondOfSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := &freezable{pipes.Listen(), make(chan *frozen, 10)}
		serve(t, listener, ServerConfig{})
		link := connect(t, LinkConfig{Dial: func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := listener.Dial(ctx, address)
			return inProcess{conn}, err
		}})
		require.Equal(t, Up, <-link.states)
		conn := <-listener.accepted
		thaw := conn.freeze()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Empty(t, link.states)
		conn.mu.Lock()
		conn.thaw = nil
		conn.mu.Unlock()
		close(thaw)
		time.Sleep(time.Minute)
		require.Equal(t, Up, link.State())

		thaw = conn.freeze()
		require.ErrorIs(t, <-link.down, ErrSilent, "it is given up as others are")
		close(thaw)
	})
}

func TestSilentConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := &freezable{pipes.Listen(), make(chan *frozen, 10)}
		serve(t, listener, ServerConfig{})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		<-link.up
		stopped := time.Now()
		thaw := (<-listener.accepted).freeze()
		require.ErrorIs(t, <-link.down, ErrSilent)
		require.InDelta(t, 5*time.Second, time.Since(stopped), float64(200*time.Millisecond))
		require.EqualValues(t, 2, <-link.up)
		close(thaw)
		require.Equal(t, []State{Up, Suspect, Down, Up},
			[]State{<-link.states, <-link.states, <-link.states, <-link.states})
	})
}

func TestLinkMeasuresRoundTrips(t *testing.T) {
	listener := loopback(t)
	serve(t, listener, ServerConfig{})
	link := connect(t, LinkConfig{Address: listener.Addr().String(), PingInterval: time.Millisecond})
	<-link.up
	require.Eventually(t, func() bool { return link.RTT() > 0 }, 5*time.Second, time.Millisecond)
	require.Less(t, link.RTT(), time.Second)
}

func TestPanicInACallbackCostsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		serve(t, listener, ServerConfig{})
		down := make(chan error, 1)
		link := NewLink(LinkConfig{
			Options: Options{Logger: quiet},
			Dial:    listener.Dial,
			OnUp: func(generation uint64, _ Hello) {
				if generation == 1 {
					panic("the first one")
				}
			},
			OnDown: func(_ uint64, err error) { down <- err },
		})
		link.Start(t.Context())
		require.ErrorIs(t, <-down, ErrPanic)
		time.Sleep(time.Second)
		require.EqualValues(t, 2, link.Generation())
		link.Close()
		require.ErrorIs(t, <-down, ErrClosed)
	})
}

// TestPanicInCheckCostsTheConnection: what a peer says of itself is as strange as any
// other bytes of it.
func TestPanicInCheckCostsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		serve(t, listener, ServerConfig{})
		tried := false
		link := connect(t, LinkConfig{Dial: listener.Dial, Check: func(Hello) error {
			if !tried {
				tried = true
				panic("the first one")
			}
			return nil
		}})
		synctest.Wait()
		require.ErrorIs(t, link.Err(), ErrPanic)
		require.EqualValues(t, 1, <-link.up)
	})
}

func TestLinkGoesWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A server that never answers the greeting.
		ctx, cancel := context.WithCancel(t.Context())
		near, far := net.Pipe()
		link := NewLink(LinkConfig{
			Options: Options{Logger: quiet},
			Dial:    func(context.Context, string) (net.Conn, error) { return near, nil },
		})
		link.Start(ctx)
		synctest.Wait()
		cancel()
		link.Close()
		_, err := io.Copy(io.Discard, far)
		require.NoError(t, err, "the connection is closed")
		NewLink(LinkConfig{}).Close()
	})
}
