package lcs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The replies were taken from Redis 7.0.15; node/datatype compares with a live one.
func TestReplies(t *testing.T) {
	const (
		a, b    = "ohmytext", "mynewtext"
		matches = "*2\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n*2\r\n*2\r\n:2\r\n:3\r\n*2\r\n:0\r\n:1\r\n"
	)
	for _, c := range []struct{ a, b, args, reply string }{
		{a, b, "", "$6\r\nmytext\r\n"},
		{a, b, "LEN", ":6\r\n"},
		{a, b, "idx", "*4\r\n$7\r\nmatches\r\n*2\r\n" + matches + "$3\r\nlen\r\n:6\r\n"},
		{a, b, "IDX MINMATCHLEN 4 WITHMATCHLEN", "*4\r\n$7\r\nmatches\r\n*1\r\n*3\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n:4\r\n$3\r\nlen\r\n:6\r\n"},
		{a, b, "IDX MINMATCHLEN -1", "*4\r\n$7\r\nmatches\r\n*2\r\n" + matches + "$3\r\nlen\r\n:6\r\n"},
		{a, "", "", "$0\r\n\r\n"},
		{"", "", "IDX", "*4\r\n$7\r\nmatches\r\n*0\r\n$3\r\nlen\r\n:0\r\n"},
		{a, b, "LEN IDX", "-ERR If you want both the length and indexes, please just use IDX.\r\n"},
		{a, b, "MINMATCHLEN", "-ERR syntax error\r\n"},
		{a, b, "MINMATCHLEN 01", "-ERR value is not an integer or out of range\r\n"},
		{a, b, "WITHMATCHLENGTH", "-ERR syntax error\r\n"},
		{strings.Repeat("x", 1<<15), strings.Repeat("x", 1<<14), "", "-" + errMemory + "\r\n"},
	} {
		var args [][]byte
		for _, arg := range strings.Fields(c.args) {
			args = append(args, []byte(arg))
		}
		require.Equal(t, c.reply, string(LCS(nil, []byte(c.a), []byte(c.b), args, false)), "%.20s %.20s %s", c.a, c.b, c.args)
	}
	reply := LCS([]byte("before"), []byte(a), []byte(b), [][]byte{[]byte("IDX")}, true)
	require.True(t, bytes.HasPrefix(reply, []byte("before%2\r\n$7\r\nmatches\r\n*2\r\n")))
}

// TestIsLongestAndCommon compares with the textbook recursion.
func TestIsLongestAndCommon(t *testing.T) {
	text := rapid.SliceOfN(rapid.SampledFrom([]byte("abc")), 0, 10)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		length, way := fill(a, b, true)
		require.Equal(t, longest(a, b), length)

		common := make([]byte, length)
		matches := trace(a, b, way, common)
		require.True(t, isSubsequence(common, a) && isSubsequence(common, b))
		total := int64(0)
		for _, m := range matches {
			require.Equal(t, a[m.aStart:m.aEnd+1], b[m.bStart:m.bEnd+1])
			total += m.len()
		}
		require.EqualValues(t, length, total)
	})
}

func longest(a, b []byte) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case a[0] == b[0]:
		return 1 + longest(a[1:], b[1:])
	}
	return max(longest(a[1:], b), longest(a, b[1:]))
}

func isSubsequence(sub, of []byte) bool {
	for _, c := range of {
		if len(sub) > 0 && sub[0] == c {
			sub = sub[1:]
		}
	}
	return len(sub) == 0
}
