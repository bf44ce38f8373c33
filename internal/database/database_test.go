package database

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSplitIsTheReverseOfKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number, together := rapid.IntRange(0, Count-1).Draw(t, "number"), rapid.Bool().Draw(t, "together")
		id, key := IDOf(number, together), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "key")
		require.Equal(t, number, id.Number())
		require.Equal(t, together, id.Together())
		if id == 0 && Reserved(key) { // which no client can name
			t.Skip()
		}
		n, k := Split(id.Key(key))
		require.Equal(t, id, n)
		require.Equal(t, string(key), string(k))
		require.False(t, Own(id.Key(key)))
		require.Equal(t, id > 0, Reserved(id.Key(key)))
	})
}

// TestTheNameOfAllKeys is Quoll's own, and of one database that is placed together.
func TestTheNameOfAllKeys(t *testing.T) {
	for id := range ID(IDs) {
		got, ok := AllOf(id.All())
		require.Equal(t, id.Together(), ok)
		require.True(t, Own(id.All()))
		if ok {
			require.Equal(t, id, got)
		}
	}
	for _, name := range []string{"", Prefix + "all", Prefix + "all\x20", Prefix + "all\x11x", "all\x11", Prefix + "any\x11"} {
		_, ok := AllOf([]byte(name))
		require.False(t, ok, "%q", name)
	}
}

func TestOwnKeysAreOfNoDatabase(t *testing.T) {
	for _, name := range []string{Prefix, Prefix + "batch", Prefix + "\x00a", Prefix + "\x20a", Prefix + "\xff"} {
		n, key := Split([]byte(name))
		require.Zero(t, n)
		require.Equal(t, name, string(key))
		require.True(t, Own([]byte(name)), "%q", name)
	}
	for _, name := range []string{"", "\xff", "\xffquoll", "a", Prefix + "\x01", Prefix + "\x0fa", Prefix + "\x10", Prefix + "\x1fa"} {
		require.False(t, Own([]byte(name)), "%q", name)
	}
}

// TestOnlyOneNameOfAKeyIsAdmitted at a time, and none while the database is closed.
func TestOnlyOneNameOfAKeyIsAdmitted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Placements
		placed, open := [Count]bool{}, [Count]bool{}
		for i := range open {
			open[i] = true
		}
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			number := rapid.IntRange(0, Count-1).Draw(t, "number")
			if rapid.Bool().Draw(t, "close") {
				p, open[number] = p.Close(number), false
				continue
			}
			together := rapid.Bool().Draw(t, "together")
			p, open[number], placed[number] = p.Place(number, together), true, together
		}
		key := rapid.SampledFrom([]string{"", "a", "\xff", "{a}b"}).Draw(t, "key")
		for number := range Count {
			require.Equal(t, open[number], p.Open(number))
			require.Equal(t, IDOf(number, placed[number]), p.ID(number))
			for _, together := range []bool{false, true} {
				name := IDOf(number, together).Key([]byte(key))
				require.Equal(t, open[number] && placed[number] == together, p.Admits(name), "%q of %+v", name, p)
			}
		}
		require.True(t, p.Admits([]byte(Prefix+"batch")), "Quoll's own")
	})
}
