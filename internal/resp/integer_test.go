package resp

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseInt(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "-1": -1, "10": 10,
		"9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63,
	} {
		n, ok := ParseInt([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, n)
	}
	for _, text := range []string{
		"", "-", "+1", "01", "-0", "-01", "00", " 1", "1 ", "1a", "0x1", "1.0", "1e3",
		"9223372036854775808", "-9223372036854775809", "9999999999999999999", "18446744073709551617", "100000000000000000000",
	} {
		_, ok := ParseInt([]byte(text))
		require.False(t, ok, text)
	}
}

func TestParseIntRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64().Draw(t, "n")
		n, ok := ParseInt(strconv.AppendInt(nil, want, 10))
		require.True(t, ok)
		require.Equal(t, want, n)
	})
}
