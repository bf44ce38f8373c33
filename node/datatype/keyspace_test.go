package datatype

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// keyspaceOf is a keyspace of the keys a, b, c and d, which hold strings, or nothing if they are empty.
func keyspaceOf(values ...string) *Keyspace {
	states := make([]record.State, 4)
	for i, value := range values {
		if value != "" {
			states[i] = str(value)
		}
	}
	return NewKeyspace([][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d")}, states, testNow, nil)
}

// clientRequest is a request as a client wrote it, in words.
func clientRequest(words ...string) *command.Request {
	req := &command.Request{Op: command.Lookup([]byte(words[0])).Op}
	for _, word := range words {
		req.Args = append(req.Args, []byte(word))
	}
	return req
}

// on executes commands, words between spaces, on a keyspace and returns the reply of the last one. The arguments, and the buffers of the replies, are rubbish then.
func on(t *testing.T, k *Keyspace, commands ...string) (reply string) {
	t.Helper()
	for _, line := range commands {
		req := clientRequest(strings.Fields(line)...)
		out := k.Execute(append(make([]byte, 0, 4096), "before"...), req)
		require.True(t, bytes.HasPrefix(out, []byte("before")), "%q: the reply is appended", line)
		reply = string(out[len("before"):])
		for _, arg := range append(req.Args, out[:cap(out)]) {
			for i := range arg {
				arg[i] ^= 0x55
			}
		}
	}
	return reply
}

func TestKeyspaceSeesWhatWasDone(t *testing.T) {
	k := keyspaceOf("x", "5")
	require.Equal(t, ":6\r\n", on(t, k, "INCR b"))
	require.Equal(t, ":3\r\n", on(t, k, "APPEND a yz"))
	require.Equal(t, "*5\r\n$3\r\nxyz\r\n$1\r\n6\r\n$-1\r\n$-1\r\n$3\r\nxyz\r\n", on(t, k, "MGET a b c d a"))
	require.Equal(t, ":2\r\n", on(t, k, "EXISTS c d a a"))
	require.Equal(t, ":1\r\n", on(t, k, "DEL a a c"))
	require.Equal(t, "+OK\r\n", on(t, k, "MSET c 1 d 2 c 3"))
	require.Equal(t, ":1\r\n", on(t, k, "RPUSH a p", "UNLINK d"))
	require.Equal(t, "$9\r\nquicklist\r\n", on(t, k, "OBJECT encoding a"))
	effects := k.Effects()
	require.Equal(t, record.Replaced, effects[0].Kind)
	require.Equal(t, record.List, effects[0].State.Type)
	require.Equal(t, record.Effect{Kind: record.Replaced, State: str("6")}, effects[1])
	require.Equal(t, record.Effect{Kind: record.Replaced, State: str("3")}, effects[2])
	require.Equal(t, record.Effect{Kind: record.Replaced}, effects[3])
	require.Empty(t, k.Missing())
}

func TestKeyspaceReadsChangeNothing(t *testing.T) {
	k := keyspaceOf("x", "5")
	on(t, k, "GET a", "MGET a b c", "EXISTS a", "DEL c", "TOUCH a b", "SETNX a y", "TTL a")
	require.Equal(t, make([]record.Effect, 4), k.Effects())
}

func TestKeyspaceRefuses(t *testing.T) {
	k := keyspaceOf("x", "5")
	require.Equal(t, "-ERR value is not an integer or out of range\r\n", on(t, k, "INCR a"))
	require.Equal(t, "-"+errWrongType+"\r\n", on(t, k, "RPUSH a b"))
	require.Equal(t, "-ERR wrong number of arguments for 'mset' command\r\n", on(t, k, "MSET a 1 b"))
	require.Equal(t, "-ERR operation 57 is not one on keys; proxy and node may be of different versions\r\n", on(t, k, "TIME"))
	require.Equal(t, "-"+errForeignKey+"\r\n", on(t, k, "GET other"))
	require.Equal(t, "-"+errForeignKey+"\r\n", on(t, k, "MSET a 1 other 2 another 3 other 4"))
	require.Equal(t, make([]record.Effect, 4), k.Effects())
	require.Equal(t, [][]byte{[]byte("other"), []byte("another")}, k.Missing())

	k.lend = func(req *command.Request) { req.MaxValue, req.MaxCollection = 4, 4 }
	require.Equal(t, "-"+ErrTooLong+"\r\n", on(t, k, "MSET a 1234 b 12345"))
	require.Equal(t, "$1\r\nx\r\n", on(t, k, "GET a"), "it was not set either")
	require.Equal(t, "+OK\r\n", on(t, k, "MSET a 1234 b 1"))
}

// TestKeyspaceKeepsLargeObjects: what two commands change stays an object.
func TestKeyspaceKeepsLargeObjects(t *testing.T) {
	k := NewKeyspace([][]byte{[]byte("a")}, []record.State{benchHash(1000)}, testNow, nil)
	on(t, k, "HSET a f 1", "HSET a g 2", "HDEL a f0000001")
	effect := k.Effects()[0]
	require.Equal(t, record.Changed, effect.Kind)
	require.Less(t, len(effect.Delta), 100)
	require.NotNil(t, effect.State.Object)
	require.Equal(t, 1001, hashIn(effect.State).count())
	require.Equal(t, 1000, hashIn(benchHash(1000)).count())
}

func TestKeyspaceExpires(t *testing.T) {
	k := keyspaceOf("x")
	require.Equal(t, ":1\r\n", on(t, k, "PEXPIREAT a 1000"))
	require.Equal(t, "$-1\r\n", on(t, k, "GET a"))
	require.Equal(t, record.Effect{Kind: record.Replaced}, k.Effects()[0])
}

// filled is what a command leaves that is given words for each of 3000 elements.
func filled(t require.TestingT, command string, words ...string) record.State {
	k := NewKeyspace([][]byte{[]byte("a")}, []record.State{{}}, testNow, nil)
	args := []string{command, "a"}
	for i := range 3000 {
		for _, word := range words {
			args = append(args, fmt.Sprintf(word, i))
		}
	}
	require.NotEqual(t, byte('-'), k.Execute(nil, clientRequest(args...))[0])
	st := k.Effects()[0].State
	require.NotNil(t, st.Object)
	return st
}

// TestADroppedBatchLeavesNothing: large values are changed where they are, but whoever has the value from before, which the home goes on with if a batch is dropped, finds it as it was.
func TestADroppedBatchLeavesNothing(t *testing.T) {
	fill := func(command string, words ...string) record.State { return filled(t, command, words...) }
	for name, test := range map[string]struct {
		st       record.State
		commands []string
	}{
		"list": {fill("RPUSH", "element-%d"), []string{"LPOP a", "RPUSH a x", "LSET a 7 y", "LREM a 1 element-9", "LINSERT a BEFORE element-11 z", "LMOVE a b LEFT RIGHT", "LTRIM a 5 -5", "RENAME a b", "LPUSH b w"}},
		"hash": {fill("HSET", "field-%d", "value-%d"), []string{"HSET a field-1 x", "HDEL a field-2", "HINCRBY a n 1", "COPY a b", "HSET b y z", "DEL a"}},
		"set":  {fill("SADD", "member-%d"), []string{"SADD a x", "SREM a member-3", "SPOP a 5", "SMOVE a b member-4", "SINTERSTORE b a a", "SUNIONSTORE a a b"}},
		"zset": {fill("ZADD", "%d", "member-%d"), []string{"ZADD a 1.5 x", "ZREM a member-3", "ZINCRBY a 7 member-4", "ZPOPMIN a 3", "ZRANGESTORE b a 0 100", "ZUNIONSTORE a 2 a b", "ZREMRANGEBYRANK a 0 9"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := string(test.st.Packed().Value)
			for range 2 { // also after another one was dropped
				k := NewKeyspace([][]byte{[]byte("a"), []byte("b")}, []record.State{test.st, {}}, testNow, nil)
				for _, command := range test.commands {
					require.NotEqual(t, "-", on(t, k, command)[:1], command)
				}
				require.NotEqual(t, record.Unchanged, k.Effects()[0].Kind)
				require.Equal(t, before, string(test.st.Packed().Value))
			}
		})
	}
}
