package database

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSplitIsTheReverseOfKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number, key := rapid.IntRange(0, Count-1).Draw(t, "number"), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "key")
		if number == 0 && Reserved(key) { // which no client can name
			t.Skip()
		}
		n, k := Split(Key(number, key))
		require.Equal(t, number, n)
		require.Equal(t, string(key), string(k))
		require.False(t, Own(Key(number, key)))
		require.Equal(t, number > 0, Reserved(Key(number, key)))
	})
}

func TestOwnKeysAreOfNoDatabase(t *testing.T) {
	for _, name := range []string{Prefix, Prefix + "batch", Prefix + "\x00a", Prefix + "\x10a", Prefix + "\xff"} {
		n, key := Split([]byte(name))
		require.Zero(t, n)
		require.Equal(t, name, string(key))
		require.True(t, Own([]byte(name)), "%q", name)
	}
	for _, name := range []string{"", "\xff", "\xffquoll", "a", Prefix + "\x01", Prefix + "\x0fa"} {
		require.False(t, Own([]byte(name)), "%q", name)
	}
}
