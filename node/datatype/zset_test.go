package datatype

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// zsetOf makes a sorted set of scores and members.
func zsetOf(pairs ...string) record.State {
	st := record.State{}
	req := request(append([]string{"ZADD", "k"}, pairs...)...)
	reply, eff := Execute(nil, st, req, testNow)
	if reply[0] == '-' {
		panic(string(reply))
	}
	return eff.State.Keep()
}

func TestSortedSets(t *testing.T) {
	two := zsetOf("1", "a", "2.5", "b")
	until := two
	until.ExpireAt = testNow + 5000
	still := zsetOf("1", "a", "3", "b")
	still.ExpireAt = until.ExpireAt
	runRows(t, []row{
		{absent, "ZADD k 2.5 b 1 a", ":2\r\n", two, written},
		{absent, "ZADD k 7 a 2.5 b 1 a", ":2\r\n", two, written},
		{absent, "ZADD k XX 1 a", ":0\r\n", absent, record.Unchanged},
		{until, "ZADD k 3 b", ":0\r\n", still, written},
		{two, "ZADD k CH 3 b 1 a", ":1\r\n", zsetOf("1", "a", "3", "b"), written},
		{two, "ZADD k GT CH 2 b 3 a", ":1\r\n", zsetOf("2.5", "b", "3", "a"), written},
		{two, "ZADD k 1 a", ":0\r\n", two, record.Unchanged},
		{two, "ZADD k 2 a 1 a", ":0\r\n", two, record.Unchanged},
		{two, "ZADD k INCR 2 a", "$1\r\n3\r\n", zsetOf("2.5", "b", "3", "a"), written},
		{two, "ZADD k NX INCR 2 a", "$-1\r\n", two, record.Unchanged},
		{zsetOf("inf", "a"), "ZINCRBY k -inf a", "-ERR resulting score is not a number (NaN)\r\n", zsetOf("inf", "a"), record.Unchanged},
		{two, "ZADD k nan a", "-ERR value is not a valid float\r\n", two, record.Unchanged},
		{str("x"), "ZADD k 1 a", wrongType, str("x"), record.Unchanged},
		{two, "ZREM k a c a", ":1\r\n", zsetOf("2.5", "b"), written},
		{two, "ZREM k a b", ":2\r\n", absent, written},
		{two, "ZREM k c", ":0\r\n", two, record.Unchanged},
		{two, "ZPOPMAX k", "*2\r\n$1\r\nb\r\n$3\r\n2.5\r\n", zsetOf("1", "a"), written},
		{two, "ZPOPMIN k 7", "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$3\r\n2.5\r\n", absent, written},
		{two, "ZMPOP k MAX", "*2\r\n$1\r\nk\r\n*1\r\n*2\r\n$1\r\nb\r\n$3\r\n2.5\r\n", zsetOf("1", "a"), written},
		{two, "ZMPOP k min 7", "*2\r\n$1\r\nk\r\n*2\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$1\r\nb\r\n$3\r\n2.5\r\n", absent, written},
		{absent, "ZMPOP k MIN", "*-1\r\n", absent, record.Unchanged},
		{two, "ZPOPMIN k 0", "*0\r\n", two, record.Unchanged},
		{two, "ZREMRANGEBYRANK k -1 -1", ":1\r\n", zsetOf("1", "a"), written},
		{two, "ZREMRANGEBYSCORE k (1 inf", ":1\r\n", zsetOf("1", "a"), written},
		{two, "ZRANK k b WITHSCORE", "*2\r\n:1\r\n$3\r\n2.5\r\n", two, record.Unchanged},
		{two, "ZREVRANK k b WITHSCORE", "*2\r\n:0\r\n$3\r\n2.5\r\n", two, record.Unchanged},
		{two, "ZRANK k c WITHSCORE", "*-1\r\n", two, record.Unchanged},
		{two, "ZRANK k c WITHSCORES", "-ERR syntax error\r\n", two, record.Unchanged},
		{two, "ZRANK k b WITHSCORE x", "-ERR wrong number of arguments for 'zrank' command\r\n", two, record.Unchanged},
	})
}

// TestAChangeOfASortedSetIsADelta: of its own size, also one of many members, and one that keeps its place is a patch.
func TestAChangeOfASortedSetIsADelta(t *testing.T) {
	var pairs []string
	for i := range packedMembers {
		pairs = append(pairs, strconv.Itoa(1000*i), fmt.Sprint("member", i))
	}
	st := zsetOf(pairs...)
	for args, c := range map[string]struct {
		kind record.EffectKind
		most int
	}{
		"ZADD k 5 new":              {record.Changed, 10},
		"ZADD k 1500500 member1":    {record.Changed, 20},
		"ZREM k member7":            {record.Changed, 20},
		"ZREMRANGEBYRANK k 0 -2":    {record.Replaced, 0}, // what is left is less than a delta
		"ZREMRANGEBYRANK k 10 70":   {record.Changed, 16},
		"ZREMRANGEBYSCORE k 1 5000": {record.Changed, 16},
		"ZPOPMIN k 50":              {record.Changed, 16},
	} {
		_, _, eff := execute(t, st, request(strings.Fields(args)...), testNow)
		require.Equal(t, c.kind, eff.Kind, args)
		require.LessOrEqual(t, len(eff.Delta), c.most, args)
	}
	short := zsetOf(pairs[:60]...)
	for args, kind := range map[string]record.EffectKind{
		"ZADD k 1001 member1":   record.Patched,
		"ZINCRBY k 999 member1": record.Patched,
		"ZADD k 2000 member1":   record.Patched, // of equal scores it is the first
		"ZADD k 2001 member1":   record.Changed,
		"ZADD k 1000.5 member1": record.Changed, // another length
	} {
		_, _, eff := execute(t, short, request(strings.Fields(args)...), testNow)
		require.Equal(t, kind, eff.Kind, args)
	}
}

// TestWhatIsNoSortedSet: bytes from elsewhere are refused if they are in another order, have a member twice, or are written in another way.
func TestWhatIsNoSortedSet(t *testing.T) {
	element := func(code, member string) string { return string(rune(len(code)+len(member))) + code + member }
	zero, one, two := "\x00", "\x01\x02", "\x01\x04"
	a, b := element(one, "a"), element(two, "b")
	require.Equal(t, "\x02"+a+b, string(zsetOf("1", "a", "2", "b").Value))
	for name, value := range map[string]string{
		"nothing":               "",
		"no members":            "\x00",
		"fewer than it says":    "\x03" + a + b,
		"more than it says":     "\x01" + a + b,
		"cut":                   ("\x02" + a + b)[:8],
		"out of order":          "\x02" + b + a,
		"members out of order":  "\x02" + element(one, "b") + element(one, "a"),
		"a member twice":        "\x02" + element(one, "a") + element(two, "a"),
		"an element twice":      "\x02" + a + a,
		"an empty element":      "\x01\x00",
		"half a score":          "\x01" + element("\x02\x02", ""),
		"a score that is long":  "\x01" + element("\x02\x02\x00", "a"),
		"zero in a byte":        "\x01" + element("\x01\x00", "a"),
		"a score of 7 bytes":    "\x01" + element("\x07\x02\x00\x00\x00\x00\x00\x01", "a"),
		"an integer as float":   "\x01" + element("\x08\x00\x00\x00\x00\x00\x00\xf0\x3f", "a"),
		"minus zero":            "\x01" + element("\x08\x00\x00\x00\x00\x00\x00\x00\x80", "a"),
		"no number":             "\x01" + element("\x08\x00\x00\x00\x00\x00\x00\xf8\x7f", "a"),
		"a length in two bytes": "\x01\x83\x00" + one + "a",
		"a count in two bytes":  "\x81\x00" + element(zero, "a"),
	} {
		require.False(t, validZset([]byte(value)), name)
		_, err := decodeState(encodeState(record.State{Type: record.SortedSet, Value: []byte(value)}))
		require.ErrorIs(t, err, errDump, name)
	}
}

// TestAScoreIsKeptInOneWay: what appendCode appends is read as the same score, and nothing else is.
func TestAScoreIsKeptInOneWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.OneOf(rapid.Float64(), rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.Int64().Draw(t, "n")) }),
			rapid.Custom(func(t *rapid.T) float64 { return math.Float64frombits(rapid.Uint64().Draw(t, "bits")) })).Draw(t, "score")
		if math.IsNaN(f) {
			return
		}
		code := appendCode([]byte("before"), f)[len("before"):]
		require.Len(t, code, scoreSize(f))
		got, size, ok := checkedScore(append(bytes.Clone(code), "behind"...))
		require.True(t, ok)
		require.Equal(t, len(code), size)
		require.Equal(t, f, got) //nolint:testifylint // exactly this one
	})
}

// A reply of ZMPOP that would be too long is an error alone, without the key that a reply begins with, and nothing is popped.
func TestZMPopOfTooMuchPopsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("its values are of hundreds of MiB")
	}
	args := []string{"ZADD", "k"}
	for i := range 2 {
		args = append(args, strconv.Itoa(i), strings.Repeat(strconv.Itoa(i), maxReply/2))
	}
	req := request(args...)
	req.MaxValue = 2 * maxReply
	_, eff := Execute(nil, record.State{}, req, testNow)
	st := eff.State
	reply, eff := Execute([]byte("before"), st, request("ZMPOP", "k", "MIN", "2"), testNow)
	require.Equal(t, "before-"+errMuchReply+"\r\n", string(reply))
	require.Equal(t, noEffect, eff)
}
