package wire

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/pipes"
)

// client is the dialing side by hand.
func client(t testing.TB, conn net.Conn) *peer {
	t.Helper()
	o := Options{}.withDefaults()
	p := newPeer(conn, o)
	_, err := p.shake(o, func(h *handshake) (Hello, error) { return h.dial(Hello{Name: "by hand"}, nil) })
	require.NoError(t, err)
	return p
}

func TestTooManyConnections(t *testing.T) {
	listener := loopback(t)
	serve(t, listener, ServerConfig{MaxConns: 1})
	first := connect(t, LinkConfig{Address: listener.Addr().String()})
	<-first.up
	second := connect(t, LinkConfig{Address: listener.Addr().String()})
	require.Eventually(t, func() bool { return second.Err() != nil }, 5*time.Second, time.Millisecond)
	require.ErrorIs(t, second.Err(), ErrRefused)
	require.ErrorContains(t, second.Err(), "1 connections are open")
	first.Close()
	<-second.up
}

func TestOffenderIsDisconnected(t *testing.T) {
	for name, bytes := range map[string][]byte{
		"panic":        appendFrame(nil, typePanic, nil),
		"reserved":     appendFrame(nil, FirstFrameType-1, nil),
		"late hello":   appendFrame(nil, frameHello, nil),
		"pong":         appendFrame(nil, framePong, make([]byte, pingLimit)),
		"leaving":      appendFrame(nil, frameLeaving, nil),
		"long ping":    appendFrame(nil, framePing, make([]byte, pingLimit+1)),
		"checksum":     append(appendFrame(nil, typeEcho, nil)[:headerSize], 0, 0, 0, 0, 0),
		"other things": []byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener := pipes.Listen()
				handler := newEcho()
				serve(t, listener, ServerConfig{Handler: handler})
				innocent := connect(t, LinkConfig{Dial: listener.Dial})
				<-innocent.up

				conn, err := listener.Dial(t.Context(), "")
				require.NoError(t, err)
				_ = client(t, conn)
				_, _ = conn.Write(bytes)
				_, err = io.Copy(io.Discard, conn)
				require.NoError(t, err, "the server hangs up")
				require.Error(t, <-handler.ended)

				require.NoError(t, innocent.SendFrames(appendFrame(nil, typeEcho, []byte("well"))))
				require.Equal(t, "well", <-innocent.frames)
			})
		})
	}
}

func TestPeerThatDoesNotReadIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		serve(t, listener, ServerConfig{Handler: handler, Options: Options{MaxPending: 1 << 20}})
		conn, err := listener.Dial(t.Context(), "")
		require.NoError(t, err)
		_ = client(t, conn)
		for err == nil {
			_, err = conn.Write(appendFrame(nil, typeEcho, make([]byte, 100<<10)))
		}
		require.ErrorIs(t, <-handler.ended, ErrBacklog)
	})
}

func TestSilentPeersAreDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		serve(t, listener, ServerConfig{Handler: handler})
		mute, err := listener.Dial(t.Context(), "")
		require.NoError(t, err)
		began := time.Now()
		_, err = io.Copy(io.Discard, mute)
		require.NoError(t, err)
		require.Equal(t, 5*time.Second, time.Since(began), "no handshake")

		conn, err := listener.Dial(t.Context(), "")
		require.NoError(t, err)
		_ = client(t, conn)
		began = time.Now()
		require.ErrorIs(t, <-handler.ended, ErrSilent)
		require.InDelta(t, 15*time.Second, time.Since(began), float64(3*time.Second))
	})
}

func TestShutdownWritesWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		server := serve(t, listener, ServerConfig{Handler: handler})
		conn, err := listener.Dial(t.Context(), "")
		require.NoError(t, err)
		p := client(t, conn)
		for range 10 {
			_, err := conn.Write(appendFrame(nil, typeEcho, []byte("reply")))
			require.NoError(t, err)
		}
		synctest.Wait()
		done := make(chan struct{})
		go func() {
			defer close(done)
			server.Shutdown(context.Background())
		}()
		synctest.Wait()
		for range 10 {
			f, err := p.in.next()
			require.NoError(t, err)
			require.Equal(t, "reply", string(f.body))
		}
		_, err = p.in.next()
		require.Equal(t, io.EOF, err)
		<-done
		require.ErrorIs(t, <-handler.ended, ErrClosed)
	})
}

func TestShutdownDoesNotWaitForeverForAPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		server := serve(t, listener, ServerConfig{})
		conn, err := listener.Dial(t.Context(), "")
		require.NoError(t, err)
		_ = client(t, conn)
		_, err = conn.Write(appendFrame(nil, typeEcho, make([]byte, 1<<20))) // more than waits on the way
		require.NoError(t, err)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		server.Shutdown(ctx)
		require.Equal(t, time.Second, time.Since(began))
		require.ErrorIs(t, server.Serve(pipes.Listen()), ErrClosed)
	})
}

func TestListenerThatFailsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := &flaky{Listener: pipes.Listen(), failures: 5}
		serve(t, listener, ServerConfig{})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		require.EqualValues(t, 1, <-link.up)
	})
}

// flaky fails to accept a number of times, as without file descriptors.
type flaky struct {
	*pipes.Listener
	failures int
}

func (f *flaky) Accept() (net.Conn, error) {
	if f.failures > 0 {
		f.failures--
		return nil, io.ErrNoProgress
	}
	return f.Listener.Accept()
}
