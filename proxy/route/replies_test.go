package route

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// Replies stay what they are while more come, however many and large.
func TestRepliesStay(t *testing.T) {
	var r replies
	for range 3 {
		var got [][]byte
		lengths := []int{0, 1, 100, minReplies, 70 << 10, 3, maxPiece, 5, 2 * maxPiece, 64 << 10, 64 << 10}
		for i, n := range lengths {
			got = append(got, r.add(bytes.Repeat([]byte{byte(i)}, n)))
			if i%2 == 0 {
				require.True(t, bytes.HasPrefix(r.fail(ErrTimeout), []byte("-")))
			}
		}
		for i, n := range lengths {
			require.NotNil(t, got[i], "no reply is not an empty one")
			require.True(t, bytes.Equal(bytes.Repeat([]byte{byte(i)}, n), got[i]))
		}
		r.reset(maxKeptSingle)
		require.LessOrEqual(t, cap(r.last), maxKeptSingle)
		require.Empty(t, r.full)
	}
}

func TestSmallRepliesAllocateNothing(t *testing.T) {
	var r replies
	reply := make([]byte, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for range 20 {
			r.add(reply)
		}
		r.reset(maxKeptSingle)
	}))
}
