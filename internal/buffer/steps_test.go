package buffer

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestStepsAreOneCopy: whoever copies in steps has the same bytes as who does it at once.
func TestStepsAreOneCopy(t *testing.T) {
	text := bytes.Repeat([]byte("quoll. "), 5*step/7)
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(step-2, step+2), rapid.IntRange(0, len(text)-100))
		src := text[3 : 3+length.Draw(t, "source")]
		dst := make([]byte, length.Draw(t, "before"), len(text)+rapid.IntRange(0, len(text)).Draw(t, "spare"))
		copy(dst, text)

		want := append(bytes.Clone(dst), src...)
		require.True(t, bytes.Equal(want, Append(dst[:len(dst):len(dst)], src)), "Append to a full slice")
		require.True(t, bytes.Equal(want, Append(dst, string(src))), "Append where there is room")

		clone := Clone(src)
		require.True(t, bytes.Equal(src, clone))
		require.NotNil(t, clone)
		require.Equal(t, len(clone), cap(clone))

		copy(want, src)
		require.Equal(t, min(len(dst), len(src)), Copy(dst, src))
		require.True(t, bytes.Equal(want[:len(dst)], dst), "Copy")

		from := rapid.IntRange(0, len(dst)).Draw(t, "from")
		copy(want, want[from:len(dst)])
		require.Equal(t, len(dst)-from, Copy(dst, dst[from:]))
		require.True(t, bytes.Equal(want[:len(dst)], dst), "Copy within a slice")
	})
}
