package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestCallsComeBack: what is put before a reply is what is cut off it, in any order with messages, and a reply without calls is left alone.
func TestCallsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list CallList
		want := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Call {
			return Call{rapid.IntRange(0, 300).Draw(t, "at"), rapid.IntRange(0, 15).Draw(t, "database"), rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 5), 1, 3).Draw(t, "args")}
		}), 0, 4).Draw(t, "calls")
		for _, c := range want {
			list.Add(c.At, c.Database, c.Args)
		}
		reply := rapid.SampledFrom([]string{"+OK\r\n", "", "*0\r\n", "?PUBLISHED\x00+OK\r\n"}).Draw(t, "reply")
		calls, rest := Calls(list.Before([]byte("before"+reply), 6)[6:])
		require.Equal(t, reply, string(rest))
		require.ElementsMatch(t, want, calls)
	})
	require.Equal(t, []byte("+OK"), (*CallList)(nil).Before([]byte("+OK"), 0))
	(*CallList)(nil).Add(0, 0, nil)
}

// TestCallsAreBounded: the first that does not fit, and all behind it, are one that says how many they are.
func TestCallsAreBounded(t *testing.T) {
	var list CallList
	list.Add(0, 3, words("ping"))
	list.Add(1, 3, words("echo", strings.Repeat("x", MaxCalled)))
	list.Add(2, 4, words("ping"))
	all := list.Before([]byte("+OK\r\n"), 0)
	calls, reply := Calls(all)
	require.Equal(t, "+OK\r\n", string(reply))
	require.Equal(t, []Call{{0, 3, words("ping")}, {1, 3, words("... (2 more commands)")}}, calls)
	for n := range all[:len(all)-len(reply)] { // cut anywhere it is no list
		calls, rest := Calls(all[:n])
		require.Empty(t, calls)
		require.Equal(t, all[:n], rest)
	}
}
