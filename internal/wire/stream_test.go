package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/pipes"
)

// counting is a stream of so many pieces, each with its number.
type counting struct {
	mu          sync.Mutex
	next, total int
	ended       int
	fault       bool
	queued      atomic.Int64
}

func (c *counting) Next(dst []byte) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault {
		panic("a source was told to")
	}
	body := binary.LittleEndian.AppendUint32(nil, uint32(c.next))
	c.next++
	return appendFrame(dst, typeEcho, append(body, make([]byte, 100)...)), c.next < c.total
}

func (c *counting) Queued() int { return int(c.queued.Load()) }

func (c *counting) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended++
}

func (c *counting) made() (pieces, ended int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next, c.ended
}

// TestStreamsArriveInOrder: both sides send some at once; each arrives whole, and in order.
func TestStreamsArriveInOrder(t *testing.T) {
	handler := newEcho()
	listener := loopback(t)
	serve(t, listener, ServerConfig{Handler: handler})
	link := connect(t, LinkConfig{Address: listener.Addr().String()})
	<-link.up
	first, second := &counting{total: 300}, &counting{total: 40}
	require.NoError(t, link.Stream(first))
	require.NoError(t, link.Stream(second))
	for _, s := range []*counting{first, second} {
		for i := range s.total {
			require.EqualValues(t, i, binary.LittleEndian.Uint32([]byte(<-link.frames)))
		}
		_, ended := s.made()
		require.Equal(t, 1, ended)
	}
	require.Zero(t, link.Streaming())
}

// TestAStreamHasAWindow: of a stream that the peer does not take a few pieces are made, and what is sent meanwhile is behind these only.
func TestAStreamHasAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		handler.gate = make(chan struct{})
		serve(t, listener, ServerConfig{Handler: handler})
		link := connect(t, LinkConfig{Dial: listener.Dial, DeadAfter: time.Hour})
		<-link.up
		s := &counting{total: 1000}
		require.NoError(t, link.Stream(s))
		synctest.Wait()
		made, _ := s.made()
		require.LessOrEqual(t, made, streamWindow)
		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, []byte("small"))))
		close(handler.gate)
		for i := range 1000 {
			if body := <-link.frames; body == "small" {
				require.LessOrEqual(t, i, streamWindow+1, "behind what was on its way")
				return
			}
		}
		t.Fatal("it never came")
	})
}

// TestAStreamGoesOnWithoutAnswers: answers that were dropped do not stop it for good.
func TestAStreamGoesOnWithoutAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutbox(1 << 20)
		s := &counting{total: streamWindow + 3}
		require.NoError(t, o.stream(s))
		pieces := func() (n int) {
			for frames, _ := o.nextPiece(); frames != nil; frames, _ = o.nextPiece() {
				n++
			}
			return n
		}
		o.streams.answered = clock()
		require.Equal(t, streamWindow, pieces())
		time.Sleep(streamRetry + time.Millisecond)
		require.Equal(t, 1, pieces())
		require.Zero(t, pieces())
		o.taken()
		o.taken()
		require.Equal(t, 1, pieces())
	})
}

// TestQueuedStreamsAreWaitedFor: who waits for room waits for what of a stream counts as queued, too, until that has been written.
func TestQueuedStreamsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		handler.gate = make(chan struct{})
		serve(t, listener, ServerConfig{Handler: handler})
		link := connect(t, LinkConfig{Dial: listener.Dial, DeadAfter: time.Hour})
		<-link.up
		s := &counting{total: 1000}
		s.queued.Store(1000)
		require.NoError(t, link.Stream(s))
		synctest.Wait()
		require.GreaterOrEqual(t, link.Queued(), 1000)
		require.False(t, link.AwaitRoom(999, time.Second))
		time.AfterFunc(time.Second, func() {
			s.queued.Store(0)
			close(handler.gate)
		})
		began := clock()
		require.True(t, link.AwaitRoom(999, time.Minute))
		require.Less(t, clock()-began, 2*time.Second)
		for range 1000 {
			<-link.frames
		}
	})
}

// TestStreamsAreBounded: no more wait than a connection has, and none is forgotten when it ends.
func TestStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := newEcho()
		handler.gate = make(chan struct{})
		server := serve(t, listener, ServerConfig{Handler: handler})
		listens := make(chan struct{})
		dial := func(ctx context.Context, address string) (net.Conn, error) {
			<-listens
			return listener.Dial(ctx, address)
		}
		link := connect(t, LinkConfig{Dial: dial, DeadAfter: time.Hour})
		require.ErrorIs(t, link.Stream(&counting{total: 1}), ErrDown)
		close(listens)
		<-link.up
		all := make([]*counting, maxStreams)
		for i := range all {
			all[i] = &counting{total: 100}
			require.NoError(t, link.Stream(all[i]))
		}
		refused := &counting{total: 1}
		require.ErrorIs(t, link.Stream(refused), ErrBacklog)
		require.Equal(t, maxStreams, link.Streaming())
		close(handler.gate)
		server.Close()
		<-link.down
		for _, s := range all {
			_, ended := s.made()
			require.Equal(t, 1, ended)
		}
		_, ended := refused.made()
		require.Zero(t, ended)
	})
}

// TestASourceThatPanicsCostsTheConnection and nothing else.
func TestASourceThatPanicsCostsTheConnection(t *testing.T) {
	listener := loopback(t)
	serve(t, listener, ServerConfig{})
	link := connect(t, LinkConfig{Address: listener.Addr().String()})
	<-link.up
	s := &counting{fault: true}
	require.NoError(t, link.Stream(s))
	require.ErrorIs(t, <-link.down, ErrPanic)
	require.EqualValues(t, 2, <-link.up)
	_, ended := s.made()
	require.Equal(t, 1, ended)
}

// TestMarksThatMakeNoSense end the connection.
func TestMarksThatMakeNoSense(t *testing.T) {
	p := &peer{out: newOutbox(1)}
	require.ErrorIs(t, p.mark(frame{typ: frameMark, body: []byte{1}}), ErrProtocol)
	for range 3 {
		require.NoError(t, p.mark(frame{typ: frameTaken}))
	}
	require.Zero(t, p.out.streams.open, "answers to nothing give no room")
	require.NoError(t, p.mark(frame{typ: frameMark}))
	require.True(t, bytes.Contains(written(t, p.out), []byte{byte(frameTaken)}))
}
