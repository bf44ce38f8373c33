package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/buffer"
)

// numbered returns a frame of some length whose bytes say which it is.
func numbered(n, length int) []byte {
	return appendFrame(buffer.Get(length+headerSize+prefixSize), typeEcho, bytes.Repeat([]byte{byte(n)}, length))
}

// written closes an outbox for more, and returns what it has written then.
func written(t *testing.T, o *outbox) []byte {
	t.Helper()
	o.stop(outboxFinishing)
	var b bytes.Buffer
	require.NoError(t, o.run(&b))
	require.Zero(t, o.queued())
	return b.Bytes()
}

// Whether frames are copied or handed over, small or large, they leave in the order in which they
// came.
func TestOutboxKeepsTheOrder(t *testing.T) {
	o := newOutbox(1 << 30)
	sent := 0
	o.sent = func(bytes int) { sent += bytes }
	var want []byte
	for n := range 300 {
		length := rand.IntN(300)
		if n%5 == 0 {
			length = rand.IntN(300 << 10)
		}
		frame := numbered(n, length)
		want = append(want, frame...)
		if n%3 == 0 {
			require.NoError(t, o.hand(frame))
		} else {
			require.NoError(t, o.add(frame))
			clear(frame) // it was copied
		}
	}
	require.Equal(t, len(want), o.queued())
	require.True(t, bytes.Equal(want, written(t, o)))
	require.Equal(t, len(want), sent)
}

func taken(o *outbox) [][]byte {
	pieces, _ := o.take()
	return pieces
}

// The limit counts what the writer has taken as well, and what was handed over.
func TestOutboxIsBounded(t *testing.T) {
	o := newOutbox(100 << 10)
	require.NoError(t, o.hand(numbered(1, 60<<10)))
	pieces, _ := o.take()
	require.NoError(t, o.add(numbered(2, 60<<10)))
	require.ErrorIs(t, o.add(numbered(3, 1)), ErrBacklog)
	require.ErrorIs(t, o.hand(numbered(4, 64<<10)), ErrBacklog)
	require.NoError(t, o.write(io.Discard, pieces))
	require.NoError(t, o.add(numbered(5, 1)))
	o.stop(outboxClosed)
	require.ErrorIs(t, o.hand(numbered(6, 64<<10)), ErrDown)
}

// A burst leaves no more memory with the outbox than small frames need.
func TestOutboxKeepsLittle(t *testing.T) {
	o := newOutbox(1 << 30)
	for range 50 {
		require.NoError(t, o.hand(numbered(1, 1<<20)))
		require.NoError(t, o.add(numbered(2, 1<<20)))
		require.NoError(t, o.add(numbered(3, 100)))
	}
	require.NoError(t, o.write(io.Discard, taken(o)))
	require.Zero(t, o.queued())
	require.Empty(t, o.pieces)
	require.LessOrEqual(t, cap(o.last)+cap(o.spare), 4*pieceSize)
	for _, piece := range o.spares[:cap(o.spares)] {
		require.Nil(t, piece, "a piece that was given back is still known")
	}
}

// BenchmarkOutbox adds frames of 64 KiB and writes them to nobody: copied, and handed over.
func BenchmarkOutbox(b *testing.B) {
	const length = 64 << 10
	o := newOutbox(1 << 30)
	run := func(b *testing.B, add func(frame []byte) []byte) {
		frame := numbered(1, length)
		b.SetBytes(length)
		b.ReportAllocs()
		for b.Loop() {
			for range 16 {
				frame = add(frame)
			}
			_ = o.write(io.Discard, taken(o))
		}
	}
	b.Run("add", func(b *testing.B) {
		run(b, func(frame []byte) []byte { _ = o.add(frame); return frame })
	})
	b.Run("hand", func(b *testing.B) {
		run(b, func(frame []byte) []byte { _ = o.hand(frame); return buffer.Get(length + 100)[:length] })
	})
}
