package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/pipes"
)

// readAll returns the frames of a stream, joined.
func readAll(t require.TestingT, stream []byte, limit int) (types []FrameType, bodies [][]byte) {
	r := newFrameReader(bytes.NewReader(stream), limit)
	for {
		f, err := r.next()
		if errors.Is(err, io.EOF) {
			return types, bodies
		}
		require.NoError(t, err)
		if f.typ == framePart {
			var whole bool
			f, whole, err = r.join(f)
			require.NoError(t, err)
			if !whole {
				require.True(t, r.within.Load(), "the rest is waited for")
				continue
			}
		}
		types, bodies = append(types, f.typ), append(bodies, bytes.Clone(f.body))
	}
}

// TestLargeFramesAreSentInParts: however small and large ones follow each other, they arrive as they were sent.
func TestLargeFramesAreSentInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 100, partSize, writeSize, wholeSize - prefixSize, wholeSize, wholeSize + 1, 2*wholeSize + 3}), 1, 6).Draw(t, "lengths")
		o := newOutbox(1 << 30)
		var piece []byte
		for i, length := range lengths {
			frame := numbered(i, length)
			if rapid.Bool().Draw(t, "hand") {
				require.NoError(t, o.hand(frame))
			} else {
				piece = append(piece[:0], frame...)
				require.NoError(t, o.add(piece))
			}
		}
		var b bytes.Buffer
		require.NoError(t, o.write(&b, taken(o)))
		require.Zero(t, o.queued())
		_, bodies := readAll(t, b.Bytes(), 1<<30)
		require.Len(t, bodies, len(lengths))
		for i, body := range bodies {
			require.True(t, bytes.Equal(numbered(i, lengths[i])[headerSize+prefixSize:], body), "frame %d", i)
		}
	})
}

// urgentAdder adds an urgent frame with each write.
type urgentAdder struct {
	bytes.Buffer
	o *outbox
}

func (u *urgentAdder) Write(b []byte) (int, error) {
	u.o.addUrgent(appendFrame(nil, framePong, nil))
	return u.Buffer.Write(b)
}

// TestUrgentPassesLarge: a ping does not wait for what is before it.
func TestUrgentPassesLarge(t *testing.T) {
	o := newOutbox(1 << 30)
	w := &urgentAdder{o: o}
	require.NoError(t, o.hand(numbered(1, 10*writeSize)))
	require.NoError(t, o.hand(numbered(2, 10*writeSize)))
	o.addUrgent(appendFrame(nil, framePing, nil))
	require.NoError(t, o.write(w, taken(o)))
	types, _ := readAll(t, w.Bytes(), 1<<30)
	require.Equal(t, framePing, types[0], "it was last, and comes first")
	between := 0
	for _, typ := range types {
		if typ == framePong {
			between++
		}
	}
	require.GreaterOrEqual(t, between, 20, "after each MiB")
}

// TestUrgentIsBounded: to a peer that reads nothing no more is kept than some seconds of pings.
func TestUrgentIsBounded(t *testing.T) {
	o := newOutbox(1 << 30)
	ping := appendFrame(nil, framePing, make([]byte, pingLimit))
	for range 1000 {
		o.addUrgent(ping)
	}
	require.LessOrEqual(t, len(o.urgent), urgentLimit+len(ping))
	require.NoError(t, o.add(numbered(1, 1)), "it takes no room of others")
}

// TestBadPartsAreErrors: what is announced is checked before anything is kept, and memory follows bytes.
func TestBadPartsAreErrors(t *testing.T) {
	part := func(body []byte) frame { return frame{typ: framePart, body: body} }
	large := numbered(1, wholeSize+1)
	join := func(bodies ...[]byte) (r *frameReader, err error) {
		r = newFrameReader(bytes.NewReader(nil), 2*wholeSize)
		for _, body := range bodies {
			if _, _, err = r.join(part(body)); err != nil {
				return r, err
			}
		}
		return r, nil
	}
	_, err := join(large[:5])
	require.ErrorIs(t, err, ErrFrame)
	_, err = join(numbered(1, 3*wholeSize)[:partSize])
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = join(appendFrame(nil, framePing, make([]byte, 100)))
	require.ErrorIs(t, err, ErrFrame, "only users' frames come in parts")
	_, err = join(large[:partSize], large)
	require.ErrorIs(t, err, ErrFrame, "more than was announced")
	r, err := join(large[:100])
	require.NoError(t, err)
	require.LessOrEqual(t, cap(r.large), 200)
	const frame = 64 << 20
	long := numbered(1, frame)
	r = newFrameReader(bytes.NewReader(nil), 2*frame)
	made, room := 0, 0
	for at := 0; at < len(long); at += partSize {
		require.LessOrEqual(t, cap(r.large), mostAhead*max(at, partSize), "memory follows bytes")
		if cap(r.large) != room {
			room = cap(r.large)
			made += room
		}
		_, _, err = r.join(part(long[at:min(len(long), at+partSize)]))
		require.NoError(t, err)
	}
	require.Less(t, made, frame*4/3, "and what is made is mostly what is used")
}

// narrow is a connection that takes a MiB in a tenth of a second.
type narrow struct{ net.Conn }

func (c narrow) Write(b []byte) (int, error) {
	time.Sleep(time.Duration(len(b)) * 100 * time.Millisecond >> 20)
	return c.Conn.Write(b)
}

// TestLargeFrameMakesNobodySuspect: to send one takes ten times as long as a silent peer is trusted, in both directions. It is not
// silent, and its answers to pings show how far away it is, not how much is on its way.
func TestLargeFrameMakesNobodySuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		serve(t, listener, ServerConfig{Handler: newEcho()})
		link := connect(t, LinkConfig{Dial: func(ctx context.Context, _ string) (net.Conn, error) {
			conn, err := listener.Dial(ctx, "")
			return narrow{conn}, err
		}})
		require.Equal(t, Up, <-link.states)
		value := string(make([]byte, 30<<20))
		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, []byte(value))))
		require.Equal(t, value, <-link.frames)
		require.Empty(t, link.states, "it was never suspect")
		require.Less(t, link.RTT(), 300*time.Millisecond)
	})
}

// TestHandlerThatGoesOnIsWork: it may take as long as it likes for a frame, as long as it gets on with it.
func TestHandlerThatGoesOnIsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		serve(t, listener, ServerConfig{Handler: slowly{newEcho()}})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		require.Equal(t, Up, <-link.states)
		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, []byte("much"))))
		require.Equal(t, "much", <-link.frames)
		require.Empty(t, link.states)
	})
}

// slowly is an echo that needs four times the longest turn, in many steps.
type slowly struct{ Handler }

func (s slowly) Frame(c *ServerConn, typ FrameType, body []byte, age time.Duration) {
	for range 20 {
		time.Sleep(longestTurn / 5)
		c.Goes()
	}
	s.Handler.Frame(c, typ, body, age)
}

// TestHandlerWaitsForRoom: who is asked for much more than the peer takes keeps little of it, and the peer gets everything.
func TestHandlerWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		handler := &generous{Handler: newEcho()}
		serve(t, listener, ServerConfig{Options: Options{MaxPending: 4 << 20}, Handler: handler})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		require.Equal(t, Up, <-link.states)
		const requests = 100
		for range requests {
			require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, nil)))
		}
		for range requests {
			require.Len(t, <-link.frames, 1<<20)
		}
		require.Empty(t, link.states, "the connection was not cut")
		synctest.Wait() // the last answer may come before its handler has looked
		require.LessOrEqual(t, handler.most, 3<<20)
	})
}

// generous answers each frame with a MiB.
type generous struct {
	Handler
	most int
}

func (g *generous) Frame(c *ServerConn, typ FrameType, _ []byte, _ time.Duration) {
	c.AwaitRoom(1 << 20)
	_ = c.SendFrames(appendFrame(nil, typ, make([]byte, 1<<20)))
	g.most = max(g.most, c.Queued())
}

// TestAwaitRoomEnds: with the connection, and when a link's time is over.
func TestAwaitRoomEnds(t *testing.T) {
	o := newOutbox(1 << 20)
	require.NoError(t, o.add(numbered(1, 1000)))
	require.False(t, o.awaitRoomFor(100, 10*time.Millisecond))
	go o.stop(outboxClosed)
	o.awaitRoom(100)
	require.True(t, o.awaitRoomFor(10_000, 0))
}
