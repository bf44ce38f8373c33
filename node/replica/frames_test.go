package replica

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/ring"
)

// What is more than a frame leaves as several, in order, and none of it is moved because more
// comes.
func TestFrameBufferClosesFullFrames(t *testing.T) {
	const head = 8 + 1 + 4 // length and checksum, type and stamp
	var f frameBuffer
	for range 2 { // it is used again
		var want, got []byte
		for i := range 7 {
			body := bytes.Repeat([]byte{byte(i)}, 700<<10)
			want = append(want, body...)
			f.buf = append(buffer.Reserve(f.open(protocol.FrameReplicate), len(body)), body...)
		}
		require.Equal(t, len(want)+4*head, f.length())
		frames := 0
		f.hand(func(frame []byte) []byte {
			require.Equal(t, len(frame)-8, int(binary.LittleEndian.Uint32(frame)), "one frame")
			got = append(got, frame[head:]...)
			frames++
			return frame[:0]
		})
		require.Equal(t, 4, frames)
		require.True(t, bytes.Equal(want, got))
		require.Zero(t, f.length())
	}
}

// TestFramesGoToThePeerThatTheyAreFor, though another one may have its index by the time that they leave.
func TestFramesGoToThePeerThatTheyAreFor(t *testing.T) {
	var set peer.Set
	add := func(id uint16) *peer.Peer {
		p := peer.New(peer.Config{Member: ring.Member{ID: id, Name: "x", Peer: "x:1"}, Mono: func() int64 { return 1 }, Metrics: new(metrics.Node), Handler: unheard{}})
		set.Add(p)
		return p
	}
	first := add(1)
	r := &Round{}
	f := r.peer(first)
	f.buf = append(f.open(protocol.FrameReplicate), "for the first"...)
	set.Remove(1)
	second := add(2)
	require.Equal(t, first.Index(), second.Index())
	require.Same(t, second, r.peer(second).peer)
	require.Empty(t, r.peer(second).buf, "what is for the first has left")
	third := add(3)
	require.Same(t, third, r.peer(third).peer, "the round was made before the peer came")
	require.Len(t, r.peers, 2)
}

// unheard is the Handler of a peer that nothing comes from.
type unheard struct{ peer.Handler }
