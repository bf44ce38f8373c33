package replica

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
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
