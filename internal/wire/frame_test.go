package wire

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFramesArriveHoweverTheStreamIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodies := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 200), 1, 20).Draw(t, "bodies")
		if rapid.Bool().Draw(t, "large") {
			bodies = append(bodies, bytes.Repeat([]byte("large"), 60_000), []byte("after"))
		}
		var stream []byte
		for _, body := range bodies {
			stream = appendFrame(stream, typeEcho, body)
		}
		require.NoError(t, checkFrames(stream, len(stream)))
		source := io.Reader(bytes.NewReader(stream))
		if rapid.Bool().Draw(t, "half") {
			source = iotest.HalfReader(source)
		}
		r := newFrameReader(source, len(stream))
		for _, body := range bodies {
			f, err := r.next()
			require.NoError(t, err)
			require.Equal(t, typeEcho, f.typ)
			require.True(t, bytes.Equal(body, f.body))
		}
		require.False(t, r.buffered())
		_, err := r.next()
		require.Equal(t, io.EOF, err)
	})
}

func TestBadFramesAreErrors(t *testing.T) {
	good := appendFrame(nil, typeEcho, []byte("body"))
	read := func(change func([]byte) []byte) error {
		_, err := newFrameReader(bytes.NewReader(change(bytes.Clone(good))), 100).next()
		return err
	}
	for i := range good {
		err := read(func(b []byte) []byte { b[i] ^= 0x10; return b })
		require.Error(t, err, "byte %d changed", i)
	}
	require.ErrorIs(t, read(func(b []byte) []byte { b[len(b)-1]++; return b }), ErrChecksum)
	require.ErrorIs(t, read(func(b []byte) []byte { b[3] = 0xff; return b }), ErrTooLarge)
	require.ErrorIs(t, read(func(b []byte) []byte { b[0] = 4; return b }), ErrFrame)
	require.ErrorIs(t, read(func(b []byte) []byte { return b[:len(b)-1] }), io.ErrUnexpectedEOF)
	require.ErrorIs(t, read(func(b []byte) []byte { return b[:3] }), io.ErrUnexpectedEOF)
}

// TestMemoryFollowsBytesNotLengths: 100 bytes that announce 1 GiB cost a buffer of
// the usual size, and each doubling is paid for in bytes.
func TestMemoryFollowsBytesNotLengths(t *testing.T) {
	header := make([]byte, headerSize)
	binary.LittleEndian.PutUint32(header, 1<<30)
	for _, sent := range []int{100, readSize, 10 * readSize} {
		r := newFrameReader(io.MultiReader(bytes.NewReader(header), bytes.NewReader(make([]byte, sent))), 1<<30)
		_, err := r.next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.LessOrEqual(t, len(r.buf), max(readSize, 2*(sent+headerSize)))
	}
}

func TestLargeBufferIsGivenBack(t *testing.T) {
	stream := appendFrame(nil, typeEcho, make([]byte, 2*keepSize)) // a peer that does not send it in parts
	binary.LittleEndian.PutUint32(stream[4:], crc32.Checksum(stream[headerSize:], castagnoli))
	stream = appendFrame(stream, typeEcho, nil)
	r := newFrameReader(bytes.NewReader(stream), 4*keepSize)
	for range 2 {
		_, err := r.next()
		require.NoError(t, err)
	}
	require.Len(t, r.buf, readSize)
}

func TestOnlyWholeUserFramesAreSent(t *testing.T) {
	good := appendFrame(nil, typeEcho, make([]byte, 10))
	require.NoError(t, checkFrames(nil, 100))
	require.NoError(t, checkFrames(good, 100))
	require.ErrorIs(t, checkFrames(good, 10), ErrTooLarge)
	require.ErrorIs(t, checkFrames(good[:len(good)-1], 100), ErrFrame)
	require.ErrorIs(t, checkFrames(append(good, 1), 100), ErrFrame)
	require.ErrorIs(t, checkFrames(BeginFrame(nil, typeEcho), 100), ErrFrame)
	require.ErrorIs(t, checkFrames(appendFrame(nil, framePong, nil), 100), ErrFrame)
}

func TestAges(t *testing.T) {
	const skew = 4_000_000_000 // the clocks have nothing in common
	var a ages
	require.Zero(t, a.age(1000, 1000-5+skew), "the first frame is the measure")
	require.Zero(t, a.age(1100, 1100-5+skew))
	require.Equal(t, 7*time.Millisecond, a.age(1200, 1200-12+skew))
	require.Zero(t, a.age(1300, 1300-3+skew), "a quicker one is the new measure")
	require.Equal(t, 2*time.Millisecond, a.age(1400, 1400-5+skew))

	// The process stops for ten seconds. What lies in its socket is old, in order.
	stopped := uint32(1500)
	for sent := stopped; sent < stopped+10_000; sent += 100 {
		age := a.age(stopped+10_000, sent-3+skew)
		require.InDelta(t, stopped+10_000-sent, age.Milliseconds(), 10)
	}

	// Clocks that drift 100 ppm apart for a day do not make frames old.
	a = ages{}
	for minute := range uint32(24 * 60) {
		local := minute * 60_000
		require.LessOrEqual(t, a.age(local, local-local/10_000), time.Millisecond)
	}
}
