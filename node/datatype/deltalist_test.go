package datatype

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// large are large states of each type, and commands on one.
var large = map[string]struct {
	fill     []string
	commands []string
}{
	"list":   {[]string{"RPUSH", "element-%d"}, []string{"LPOP a", "RPUSH a x", "LSET a 7 y", "LREM a 1 element-9", "LINSERT a BEFORE element-11 z", "LTRIM a 5 -5", "LSET a 100000 y", "LMOVE a a LEFT RIGHT", "SORT a ALPHA LIMIT 0 3 STORE a"}},
	"hash":   {[]string{"HSET", "field-%d", "value-%d"}, []string{"HSET a field-1 x", "HDEL a field-2 nothing", "HINCRBY a n 1", "HINCRBY a field-1 1", "HSETNX a field-3 x", "HDEL a nothing"}},
	"set":    {[]string{"SADD", "member-%d"}, []string{"SADD a x", "SREM a member-3", "SPOP a 5", "SADD a member-4", "SINTERSTORE a a a", "SMOVE a a member-5"}},
	"zset":   {[]string{"ZADD", "%d", "member-%d"}, []string{"ZADD a 1.5 x", "ZREM a member-3", "ZINCRBY a 7 member-4", "ZPOPMIN a 3", "ZREMRANGEBYRANK a 0 9", "ZREMRANGEBYSCORE a 100 200", "ZADD a XX 9 nobody"}},
	"string": {[]string{"SET"}, []string{"APPEND a x", "SETRANGE a 17 y", "SETBIT a 99 1", "INCR a"}},
}

// ofAllTypes are commands on what any key holds.
var ofAllTypes = []string{"PEXPIREAT a 99999999999999", "PERSIST a", "PEXPIREAT a 99999999999998 GT", "TOUCH a", "DEL a", "RENAME a b", "COPY a b"}

// largeState makes one.
func largeState(t require.TestingT, name string) record.State {
	if name != "string" {
		return filled(t, large[name].fill[0], large[name].fill[1:]...)
	}
	k := NewKeyspace([][]byte{[]byte("a")}, []record.State{{}}, testNow, nil)
	k.Execute(nil, clientRequest("SET", "a", strings.Repeat("0", 100_000)))
	return k.Effects()[0].State
}

// TestWhatIsDoneToALargeStateIsADelta: it is small, and makes the same state of a copy, whatever was done and undone.
func TestWhatIsDoneToALargeStateIsADelta(t *testing.T) {
	deltas, several := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"list", "hash", "set", "zset", "string"}).Draw(t, "type")
		st := largeState(t, name)
		packed := record.State{Type: st.Type, ExpireAt: st.ExpireAt, Value: st.Packed().Value}
		there, _ := Live(packed)
		k := NewKeyspace([][]byte{[]byte("a"), []byte("b")}, []record.State{st, {}}, testNow, nil)
		commands := append(large[name].commands, ofAllTypes[:4]...)
		if rapid.IntRange(0, 3).Draw(t, "or something else") == 0 {
			commands = append(commands, ofAllTypes[4:]...)
		}
		for _, command := range rapid.SliceOfN(rapid.SampledFrom(commands), 1, 8).Draw(t, "commands") {
			k.Execute(nil, clientRequest(strings.Fields(command)...))
		}
		effect := k.Effects()[0]
		if effect.Kind != record.Changed {
			return
		}
		require.Less(t, len(effect.Delta), 4000)
		next, err := Apply(there, effect.Delta)
		require.NoError(t, err)
		require.Equal(t, string(effect.State.Packed().Value), string(next.Packed().Value))
		require.Equal(t, [2]any{effect.State.Type, effect.State.ExpireAt}, [2]any{next.Type, next.ExpireAt})
		if deltas++; effect.Delta[0] == deltaSeveral {
			several++
		}
	})
	require.Greater(t, deltas, several)
	require.Positive(t, several)
}

// TestADeltaOfSeveralIsLookedAt: one that makes no sense is refused.
func TestADeltaOfSeveralIsLookedAt(t *testing.T) {
	st := largeState(t, "hash")
	for _, delta := range []string{"\x0c\x00", "\x0c\x05\x02", "\x0c\x02\x0c\x00", "\x0c\x01\x63"} {
		_, err := Apply(st, []byte(delta))
		require.ErrorIs(t, err, ErrDelta, "%q", delta)
	}
}

// TestNoDeltaOfWhatWasNotThere: what the home takes for absent may be an expired value that the replicas still hold.
func TestNoDeltaOfWhatWasNotThere(t *testing.T) {
	k := NewKeyspace([][]byte{[]byte("a")}, []record.State{{}}, testNow, nil)
	on(t, k, "SETRANGE a 10000 x")
	on(t, k, "SETRANGE a 17 y")
	require.Equal(t, record.Replaced, k.Effects()[0].Kind)
}

// TestWhatIsTooLongIsNoDelta: a command that is refused, for its state would be too long, leaves those before it.
func TestWhatIsTooLongIsNoDelta(t *testing.T) {
	refused := 0
	for name, commands := range map[string][2]string{
		"list": {"LSET a 7 element-8", "RPUSH a " + strings.Repeat("x", 500)}, "hash": {"HSET a field-1 value-9", "HSET a more " + strings.Repeat("x", 500)},
		"set": {"SREM a member-1", "SADD a " + strings.Repeat("x", 500)}, "zset": {"ZADD a 8 member-1", "ZADD a 1 " + strings.Repeat("x", 500)},
		"string": {"SETRANGE a 17 y", "APPEND a " + strings.Repeat("x", 500)},
	} {
		st := largeState(t, name)
		there, _ := Live(record.State{Type: st.Type, Value: st.Packed().Value})
		k := NewKeyspace([][]byte{[]byte("a")}, []record.State{st}, testNow, func(req *command.Request) { req.MaxValue, req.MaxCollection = st.Size()+100, st.Size()+100 })
		require.NotEqual(t, "-", on(t, k, commands[0])[:1])
		if on(t, k, commands[1])[0] == '-' {
			refused++
		}
		effect := k.Effects()[0]
		require.Equal(t, record.Changed, effect.Kind, name)
		next, err := Apply(there, effect.Delta)
		require.NoError(t, err)
		require.Equal(t, string(effect.State.Packed().Value), string(next.Packed().Value), name)
	}
	require.Equal(t, 5, refused)
}
