package command

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

func words(args ...string) (list [][]byte) {
	for _, arg := range args {
		list = append(list, []byte(arg))
	}
	return list
}

func TestABatchIsWhatWasSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(rapid.Byte(), 0, 4)
		b := &Batch{Array: true, Shown: rapid.Bool().Draw(t, "shown")}
		for range rapid.IntRange(0, 3).Draw(t, "watched") {
			b.Watched = append(b.Watched, Watched{word.Draw(t, "key"), word.Draw(t, "version")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "also") {
			b.Also = append(b.Also, word.Draw(t, "key"))
		}
		for range rapid.IntRange(0, 4).Draw(t, "commands") {
			b.Commands = append(b.Commands, Request{Op: Op(rapid.IntRange(1, Ops()-1).Draw(t, "op")), RESP3: true, Args: rapid.SliceOfN(word, 1, 5).Draw(t, "args")})
		}
		if rapid.Bool().Draw(t, "listed") {
			b.Listing = &Listing{Database: database.IDOf(rapid.IntRange(0, database.Count-1).Draw(t, "database"), true),
				Promised: record.Ballot{Counter: rapid.Uint64().Draw(t, "counter"), Incarnation: rapid.Uint64().Draw(t, "incarnation")}}
		}
		req := b.Request([]byte("k"), true)
		got, err := ParseBatch(&req)
		require.NoError(t, err)
		require.Equal(t, b, got)
	})
}

func TestWhatIsNoBatch(t *testing.T) {
	for _, args := range [][][]byte{
		words("BATCH", "k", "\x01\x00"), words("BATCH", "k", "\x01\x01\x01", "w", "v"), words("BATCH", "k", "\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		words("BATCH", "k"), words("BATCH", "k", ""), words("BATCH", "k", "\x04\x00\x00"), words("BATCH", "k", "\x01\x01\x00"), words("BATCH", "k", "\x00\x00\x00"), words("BATCH", "k", "\x01\x00\x00\x01\x02", "GET"),
		words("BATCH", "k", "\x01\x00\x00\x01\x00"), words("BATCH", "k", "\x01\x00\x00\x01\x01", "GET", "x"), words("BATCH", "k", "\x01\x00\x00\xff\xff\x03\x01", "GET"),
		words("BATCH", "k", "\x09\x00\x00"), words("BATCH", "k", "\x09\x00\x00", ""), words("BATCH", "k", "\x09\x00\x00", "\x01\x01\x01"), words("BATCH", "k", "\x09\x00\x00", "\x11\x01"),
		words("BATCH", "k", "\x09\x00\x00", "\x11\x01\x01\x01"), words("BATCH", "k", "\x09\x00\x00", "\x20\x01\x01"),
	} {
		_, err := ParseBatch(&Request{Op: OpBatch, Args: args})
		require.ErrorIs(t, err, ErrBatch, "%q", args)
	}
}

func TestKeysOfABatch(t *testing.T) {
	b := Batch{Array: true, Watched: []Watched{{Key: []byte("w")}}, Commands: []Request{
		{Op: OpMSet, Args: words("MSET", "a", "1", "b", "2")}, {Op: OpGet, Args: words("GET", "w")}, {Op: OpSort, Args: words("SORT", "a", "STORE", "c")},
	}}
	keys, ok := b.Keys([]byte("a"))
	require.True(t, ok)
	require.Equal(t, words("a", "w", "b", "c"), keys)
	b.Commands = append(b.Commands, Request{Op: OpSInterCard, Args: words("SINTERCARD", "3", "z")})
	keys, ok = b.Keys([]byte("a"))
	require.True(t, ok)
	require.Equal(t, words("a", "w", "b", "c"), keys)
	b.Commands = append(b.Commands, Request{Op: OpGet, Args: words("GET")})
	_, ok = b.Keys([]byte("a"))
	require.False(t, ok)
}

func TestMissingKeysComeBack(t *testing.T) {
	for _, keys := range [][][]byte{words("a"), words("", "b\r\n "), words("\xff", "x")} {
		got, ok := MissingKeys(AppendMissingKeys(nil, keys))
		require.True(t, ok)
		require.Equal(t, keys, got)
	}
	for _, reply := range []string{"", "+OK\r\n", "?MISSINGKEYS\r\n", "?MISSINGKEYS xx\r\n", "-MISSINGKEYS 61\r\n", "-ERR\r\n"} {
		_, ok := MissingKeys([]byte(reply))
		require.False(t, ok, reply)
	}
}
