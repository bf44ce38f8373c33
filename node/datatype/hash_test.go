package datatype

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// hashOf makes a hash of fields and values.
func hashOf(pairs ...string) record.State {
	var e edit
	for i := 0; i < len(pairs); i += 2 {
		e = e.add(fieldChange{field: []byte(pairs[i]), value: []byte(pairs[i+1])})
	}
	next, _ := e.apply(hash{}, new(space))
	return next.state(0)
}

func TestHashes(t *testing.T) {
	two := hashOf("a", "1", "b", "x")
	until := two
	until.ExpireAt = testNow + 5000
	still := hashOf("a", "2", "b", "x")
	still.ExpireAt = until.ExpireAt
	runRows(t, []row{
		{record.State{}, "HSET k a 1 b x", ":2\r\n", two, record.Replaced},
		{record.State{}, "HSET k a 0 b x a 1", ":2\r\n", two, record.Replaced},
		{two, "HSET k b x c y", ":1\r\n", hashOf("a", "1", "b", "x", "c", "y"), record.Replaced},
		{until, "HSET k a 2", ":0\r\n", still, record.Replaced},
		{two, "HSET k a 1 b", "-ERR wrong number of arguments for 'hset' command\r\n", two, record.Unchanged},
		{str("x"), "HSET k a 1", wrongType, str("x"), record.Unchanged},
		{record.State{}, "HMSET k a 1 b x", "+OK\r\n", two, record.Replaced},
		{two, "HSETNX k a 2", ":0\r\n", two, record.Unchanged},
		{two, "HSETNX k c y", ":1\r\n", hashOf("a", "1", "b", "x", "c", "y"), record.Replaced},
		{two, "HDEL k a c a", ":1\r\n", hashOf("b", "x"), record.Replaced},
		{two, "HDEL k a b", ":2\r\n", record.State{}, record.Replaced},
		{two, "HDEL k c", ":0\r\n", two, record.Unchanged},
		{record.State{}, "HDEL k c", ":0\r\n", record.State{}, record.Unchanged},
		{two, "HINCRBY k a 41", ":42\r\n", hashOf("a", "42", "b", "x"), record.Replaced},
		{two, "HINCRBY k b 1", "-ERR hash value is not an integer\r\n", two, record.Unchanged},
		{hashOf("a", "9223372036854775807"), "HINCRBY k a 1", "-ERR increment or decrement would overflow\r\n", hashOf("a", "9223372036854775807"), record.Unchanged},
		{two, "HINCRBYFLOAT k c 1.5", "$3\r\n1.5\r\n", hashOf("a", "1", "b", "x", "c", "1.5"), record.Replaced},
		{two, "HINCRBYFLOAT k b 1", "-ERR hash value is not a float\r\n", two, record.Unchanged},
		{two, "HGETALL k", "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\nx\r\n", two, record.Unchanged},
		{two, "HMGET k b c", "*2\r\n$1\r\nx\r\n$-1\r\n", two, record.Unchanged},
		{two, "HRANDFIELD k 5", "*2\r\n$1\r\na\r\n$1\r\nb\r\n", two, record.Unchanged},
		{two, "HSCAN k 0 MATCH b", "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nb\r\n$1\r\nx\r\n", two, record.Unchanged},
		{two, "TYPE k", "+hash\r\n", two, record.Unchanged},
		{two, "GET k", wrongType, two, record.Unchanged},
		{two, "MGET k", "$-1\r\n", two, record.Unchanged},
		{two, "SET k v", "+OK\r\n", str("v"), record.Replaced},
	})
}

// TestHashesAreLimited: a hash is a value, and no longer than one.
func TestHashesAreLimited(t *testing.T) {
	req := request("HSET", "k", "f", strings.Repeat("x", 990))
	req.MaxValue = 1000
	_, st, _ := execute(t, record.State{}, req, testNow)
	req = request("HSET", "k", "g", "1234567890")
	req.MaxValue = 1000
	reply, after, _ := execute(t, st, req, testNow)
	require.Equal(t, "-"+errTooLong(record.Hash)+"\r\n", reply)
	require.Equal(t, st, after)
	req = request("HRANDFIELD", "k", "-2", "WITHVALUES")
	req.MaxValue = 1000
	reply, _, _ = execute(t, st, req, testNow)
	require.Equal(t, "-"+errReplyTooLong+"\r\n", reply)
}

// TestASmallChangeOfALargeHashIsADelta, whose size is that of the change.
func TestASmallChangeOfALargeHashIsADelta(t *testing.T) {
	var args []string
	for i := range 1000 {
		args = append(args, fmt.Sprint("field", i), fmt.Sprint("value", i))
	}
	large := hashOf(args...)
	for _, command := range [][]string{
		{"HSET", "k", "field7", "x"}, {"HSET", "k", "new", "y"}, {"HDEL", "k", "field8", "field9"}, {"HINCRBY", "k", "n", "3"},
	} {
		_, _, eff := execute(t, large, request(command...), testNow)
		require.Equal(t, record.Changed, eff.Kind)
		require.Less(t, len(eff.Delta), 40)
	}
}

// TestHashesAsAMap compares random edits with a map and, as long as they are packed, a list of the order.
func TestHashesAsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st record.State
		model, order, inParts := map[string]string{}, []string(nil), false
		most := rapid.SampledFrom([]int{30, packedFields + 5, 3 * packedFields}).Draw(t, "most")
		field := rapid.Custom(func(t *rapid.T) string { return strconv.Itoa(rapid.IntRange(0, most).Draw(t, "field")) })
		if rapid.Bool().Draw(t, "many") {
			args := []string{"HSET", "k"}
			for i := range most {
				model[strconv.Itoa(i)], order = "v", append(order, strconv.Itoa(i))
				args = append(args, strconv.Itoa(i), "v")
			}
			_, st, _ = execute(t, st, request(args...), testNow)
			inParts = st.Object != nil
		}
		for range rapid.IntRange(1, 30).Draw(t, "commands") {
			if rapid.Bool().Draw(t, "remove") {
				fields := rapid.SliceOfN(field, 1, 15).Draw(t, "fields")
				_, st, _ = execute(t, st, request(append([]string{"HDEL", "k"}, fields...)...), testNow)
				for _, f := range fields {
					delete(model, f)
				}
				order = slices.DeleteFunc(order, func(f string) bool { return slices.Contains(fields, f) })
			} else {
				args := []string{"HSET", "k"}
				for _, f := range rapid.SliceOfN(field, 1, 15).Draw(t, "fields") {
					value := rapid.StringN(0, 5, 200).Draw(t, "value")
					args = append(args, f, value)
					if _, there := model[f]; !there {
						order = append(order, f)
					}
					model[f] = value
				}
				_, st, _ = execute(t, st, request(args...), testNow)
			}
			require.Equal(t, len(model) > 0, st.Live())
			require.Equal(t, len(model) > 0, validHash(st.Packed().Value))
			require.Equal(t, len(model), hashIn(st).count())
			held, inOrder := map[string]string{}, []string(nil)
			for field, value := range hashIn(st).all() {
				held[string(field)] = string(value)
				inOrder = append(inOrder, string(field))
			}
			require.True(t, maps.Equal(model, held))
			inParts = inParts && st.Live() || st.Object != nil
			require.True(t, inParts || slices.Equal(order, inOrder))
			require.True(t, inParts || len(model) <= packedFields)
			for _, f := range inOrder[:min(len(inOrder), 20)] {
				reply, _, _ := execute(t, st, request("HGET", "k", f), testNow)
				require.Equal(t, string(resp.AppendBulk(nil, held[f])), reply)
			}
		}
	})
}

// TestHScanMissesNothing: every field that is there from the first page to the last is returned, though others come and go, and however
// large the hash is in between.
func TestHScanMissesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st record.State
		set := func(prefix string, n int) {
			args := []string{"HSET", "k"}
			for i := range n {
				args = append(args, fmt.Sprint(prefix, i), "v")
			}
			_, st, _ = execute(t, st, request(args...), testNow)
		}
		staying, passing := rapid.IntRange(1, 1500).Draw(t, "staying"), rapid.IntRange(1, 1500).Draw(t, "passing")
		set("stays", staying)
		found := map[string]bool{}
		cursor, pages := "0", 0
		for {
			if rapid.Bool().Draw(t, "change") {
				set("passes", passing)
			} else {
				args := []string{"HDEL", "k"}
				for i := range passing {
					args = append(args, fmt.Sprint("passes", i))
				}
				_, st, _ = execute(t, st, request(args...), testNow)
			}
			reply, _, _ := execute(t, st, request("HSCAN", "k", cursor, "COUNT", "100", "MATCH", "stays*"), testNow)
			lines := strings.Split(reply, "\r\n")
			cursor = lines[2]
			for i := 5; i < len(lines); i += 4 {
				found[lines[i]] = true
			}
			pages++
			require.Less(t, pages, 40)
			if cursor == "0" {
				break
			}
			n, err := strconv.ParseUint(cursor, 10, 64)
			require.NoError(t, err)
			require.Less(t, n, uint64(1<<53))
		}
		require.Len(t, found, staying)
	})
}

// TestPositionsStay: they are part of cursors that clients hold, and the same on every node of every version.
func TestPositionsStay(t *testing.T) {
	require.Equal(t, []uint64{0xf52a15e9a9b5, 0xe0315fa550cc}, []uint64{parts.Position(nil), parts.Position([]byte("field"))})
}

// TestDamagedHashesAreRefused: whatever the bytes are, nothing panics, and what is not valid is not restored.
func TestDamagedHashesAreRefused(t *testing.T) {
	whole := encodeState(hashOf("a", "1", "bc", "xyz"))
	_, err := decodeState(whole)
	require.NoError(t, err)
	for n := range whole {
		_, err := decodeState(whole[:n])
		require.Error(t, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		blob := append(bytes.Clone(whole[:3]), rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "bytes")...)
		st, err := decodeState(blob)
		damaged := record.State{Type: record.Hash, Value: blob[3:]}
		for _, command := range []string{"HGETALL k", "HGET k a", "HLEN k", "HSCAN k 0"} {
			Execute(nil, damaged, request(strings.Fields(command)...), testNow)
		}
		if err == nil {
			require.True(t, validHash(st.Packed().Value))
		}
	})
}

// TestBothFormsAnswerAlike: whether a hash is packed or in parts nobody can tell but by the order.
func TestBothFormsAnswerAlike(t *testing.T) {
	var args []string
	for i := range 500 {
		args = append(args, fmt.Sprint("field", i), strconv.Itoa(i))
	}
	inParts := hashOf(args...)
	require.NotNil(t, inParts.Object)
	packed := inParts.Packed()
	require.Nil(t, packed.Object)
	for _, line := range []string{"HGET k field7", "HGET k none", "HMGET k field1 none field499", "HEXISTS k field2", "HSTRLEN k field100", "HLEN k", "HGETALL k", "HKEYS k", "HVALS k",
		"HSET k field3 x new y", "HSETNX k field3 z", "HDEL k field4 none", "HINCRBY k field5 10", "HINCRBYFLOAT k field6 0.5", "HSCAN k 0", "HSCAN k 77777777777 COUNT 3",
		"HSCAN k 0 MATCH field1*", "HRANDFIELD k 1000", "HRANDFIELD k 499 WITHVALUES", "HRANDFIELD k -20", "HRANDFIELD k", "EXPIRE k 100", "DEL k", "TYPE k"} {
		words := strings.Fields(line)
		want, after, _ := execute(t, packed, request(words...), testNow)
		got, afterParts, _ := execute(t, inParts, request(words...), testNow)
		require.Equal(t, want, got, line)
		require.Equal(t, mapOf(after), mapOf(afterParts), line)
		require.Equal(t, after.ExpireAt, afterParts.ExpireAt)
	}
	live, ok := Live(packed)
	require.True(t, ok)
	require.Equal(t, inParts.Packed(), live.Packed())
	dumped, err := decodeState(encodeState(inParts))
	require.NoError(t, err)
	require.NotNil(t, dumped.Object)
	require.Equal(t, packed, dumped.Packed())
}

// TestFewRandomFieldsOfMany are different ones, and all have their turn.
func TestFewRandomFieldsOfMany(t *testing.T) {
	var args []string
	for i := range 1000 {
		args = append(args, fmt.Sprint("field", i), "v")
	}
	st, seen := hashOf(args...), map[string]int{}
	for i := range 2000 {
		req := request("HRANDFIELD", "k", "10")
		req.Random = uint64(i)
		reply, _, _ := execute(t, st, req, testNow)
		fields := map[string]bool{}
		for i, line := range strings.Split(reply, "\r\n") {
			if i > 0 && i%2 == 0 && line != "" {
				fields[line] = true
				seen[line]++
			}
		}
		require.Len(t, fields, 10)
	}
	require.Len(t, seen, 1000)
	square := 0.0
	for _, n := range seen {
		square += float64((n-20)*(n-20)) / 20
	}
	require.InDelta(t, 999, square, 5*math.Sqrt(2*999), "chi-square")
}

// TestRepliesOfManyFieldsAreBounded: what no frame holds is refused with an error. Of tiny fields the reply is several times as long as the hash.
func TestRepliesOfManyFieldsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("its values are of hundreds of MiB")
	}
	m := new(parts.Map)
	long := bytes.Repeat([]byte("v"), maxReply/4)
	for i := range 5 {
		m, _ = m.Set(append([]byte{byte(i)}, long...), long)
	}
	st := record.State{Type: record.Hash, Object: m}
	field := append([]byte{1}, long...)
	for _, args := range [][][]byte{{[]byte("hgetall"), []byte("k")}, {[]byte("hkeys"), []byte("k")}, {[]byte("hvals"), []byte("k")},
		{[]byte("hmget"), []byte("k"), field, field, field, field, field}} {
		req := command.Request{Op: command.Lookup(args[0]).Op, Args: args}
		reply, _ := Execute([]byte("before"), st, &req, 1)
		require.Equal(t, "before-"+errMuchReply+"\r\n", string(reply), "%s", args[0])
	}
}
