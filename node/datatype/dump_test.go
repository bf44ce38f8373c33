package datatype

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/rdb"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/redistest"
)

// dumpOf returns what DUMP replies.
func dumpOf(t require.TestingT, st record.State) string {
	reply, _, eff := execute(t, st, request("DUMP", "k"), testNow)
	require.Equal(t, noEffect, eff)
	_, value, found := strings.Cut(reply, "\r\n")
	require.True(t, found && reply[0] == '$', reply)
	return strings.TrimSuffix(value, "\r\n")
}

// TestDumpAndRestoreAsRedis: what is dumped is restored to the same state, here and in a Redis, and what that dumps is the same again.
func TestDumpAndRestoreAsRedis(t *testing.T) {
	redis := dialRedis(t, redistest.Start(t), "2")
	ask := func(t require.TestingT, args ...string) string {
		redis.send(args...)
		require.NoError(t, redis.flush())
		reply, err := redis.read(nil)
		require.NoError(t, err)
		return string(reply)
	}
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
		st := record.State{}
		for range rapid.IntRange(1, 6).Draw(t, "commands") {
			args := pick(g, []string{"SET", "k", g.value()}, append([]string{"HSET", "k"}, evenly(g)...), []string{"APPEND", "k", strings.Repeat(g.value(), 30)},
				append([]string{"SADD", "k"}, g.some(g.value, pick(g, 3, 200))...), append([]string{"ZADD", "k"}, scoredMembers(g)...), append([]string{"RPUSH", "k"}, g.some(g.value, pick(g, 3, 300))...), append([]string{"SADD", "k"}, g.some(g.integer, pick(g, 3, 200))...), []string{"DEL", "k"})
			_, st, _ = execute(t, st, request(args...), testNow)
		}
		if !st.Live() {
			return
		}
		payload := dumpOf(t, st)
		reply, again, _ := execute(t, record.State{}, request("RESTORE", "k", "0", payload), testNow)
		require.Equal(t, "+OK\r\n", reply)
		require.True(t, sameState(st, again))
		require.Equal(t, "+OK\r\n", ask(t, "RESTORE", "k", "0", payload, "REPLACE"))
		theirs := ask(t, "DUMP", "k")
		_, theirs, _ = strings.Cut(theirs, "\r\n")
		_, again, _ = execute(t, record.State{}, request("RESTORE", "k", "0", strings.TrimSuffix(theirs, "\r\n")), testNow)
		require.Equal(t, st.Type, again.Type)
		require.Equal(t, itemsOf(t, payload), itemsOf(t, dumpOf(t, again)))
	})
}

// evenly draws fields and values.
func evenly(g *generator) (all []string) {
	for range 1 + g.intn(pick(g, 3, 200)) {
		all = append(all, g.field()+strconv.Itoa(g.intn(300)), g.value())
	}
	return all
}

// scoredMembers draws scores and members.
func scoredMembers(g *generator) (all []string) {
	for range 1 + g.intn(pick(g, 3, 200)) {
		all = append(all, pick(g, "1.5", "-inf", "+inf", "0.1", "-1e-300", strconv.Itoa(g.intn(9))), g.value())
	}
	return all
}

// itemsOf returns the items of a payload, fields with their values, whatever their order.
func itemsOf(t require.TestingT, payload string) map[string]int {
	v, err := rdb.Open([]byte(payload), 1<<30)
	require.NoError(t, err)
	items, field, n := map[string]int{}, "", 0
	require.NoError(t, v.Each(func(item []byte, _ float64) error {
		if n++; v.Kind == rdb.Hash && n%2 != 0 {
			field = string(item)
			return nil
		}
		items[field+"\x00"+string(item)]++
		return nil
	}))
	return items
}

// TestRestoreRefusesWhatRedisRefuses, in its words and in its order.
func TestRestoreRefusesWhatRedisRefuses(t *testing.T) {
	redis := dialRedis(t, redistest.Start(t), "2")
	payload := dumpOf(t, str("value"))
	for _, existing := range []bool{false, true} {
		for _, args := range [][]string{
			{"0", payload}, {"1000000", payload}, {"0", payload, "REPLACE"}, {"0", payload, "replace", "absttl", "idletime", "3"},
			{"-1", payload}, {"-1", payload, "REPLACE"}, {"x", payload, "REPLACE"}, {"-1", "x", "REPLACE"}, {"0", "x", "REPLACE"}, {"0", "", "REPLACE"}, {"0", "0123456789", "REPLACE"},
			{"0", payload, "REPLACE", "IDLETIME", "-1"}, {"0", payload, "REPLACE", "IDLETIME", "x"}, {"0", payload, "REPLACE", "IDLETIME"},
			{"0", payload, "REPLACE", "FREQ", "256"}, {"0", payload, "REPLACE", "FREQ", "-1"}, {"0", payload, "FREQ", "1", "IDLETIME", "2"}, {"0", payload, "IDLETIME", "2", "FREQ", "1"},
			{"0", payload, "IDLETIME", "2", "IDLETIME", "1", "REPLACE"}, {"0", payload, "foo"}, {"x", "x", "foo"}, {"1", payload, "REPLACE", "ABSTTL"}, {"4102444800000", payload, "ABSTTL", "REPLACE"},
			{"0", string(rdb.Seal([]byte("\x00"))), "REPLACE"}, {"0", string(rdb.Seal(nil)), "REPLACE"},
			{"0", string(rdb.Seal([]byte("\x63a"))), "REPLACE"}, {"0", string(rdb.Seal([]byte("\x04\x00"))), "REPLACE"},
		} {
			st := str("old")
			redis.send("DEL", "k")
			redis.send("SET", "k", "old")
			if !existing {
				st = record.State{}
				redis.send("DEL", "k")
			}
			redis.send(append([]string{"RESTORE", "k"}, args...)...)
			redis.send("GET", "k")
			require.NoError(t, redis.flush())
			var replies [5]string
			n := 4
			if !existing {
				n = 5
			}
			for i := range n {
				reply, err := redis.read(nil)
				require.NoError(t, err)
				replies[i] = string(reply)
			}
			reply, next, _ := execute(t, st, request(append([]string{"RESTORE", "k"}, args...)...), testNow)
			require.Equal(t, replies[n-2], reply, "%q", args)
			reply, _, _ = execute(t, next, request("GET", "k"), testNow)
			require.Equal(t, replies[n-1], reply, "%q", args)
		}
	}
}

// TestRestoreTakesNothingTwice: Redis takes the payload, and has a hash with a field twice.
func TestRestoreTakesNothingTwice(t *testing.T) {
	reply, _, _ := execute(t, record.State{}, request("RESTORE", "k", "0", string(rdb.Seal([]byte("\x04\x02\x01a\x01b\x01a\x01c")))), testNow)
	require.Equal(t, "-"+errBadDump+"\r\n", reply)
}

// TestRestoredLives: the expiry is that of the command, relative or absolute.
func TestRestoredLives(t *testing.T) {
	payload := dumpOf(t, strUntil("value", testNow+5))
	for ttl, options := range map[string]string{"7": "REPLACE", strconv.Itoa(testNow + 7): "ABSTTL"} {
		_, st, _ := execute(t, record.State{}, request("RESTORE", "k", ttl, payload, options), testNow)
		require.EqualValues(t, testNow+7, st.ExpireAt)
	}
	reply, _, _ := execute(t, record.State{}, request("RESTORE", "k", "9223372036854775807", payload), testNow)
	require.Equal(t, "-ERR invalid expire time in 'restore' command\r\n", reply)
	_, gone, eff := execute(t, str("old"), request("RESTORE", "k", "1", payload, "REPLACE", "ABSTTL"), testNow)
	require.Equal(t, deleted(), eff)
	require.False(t, gone.Live())
}

// TestRestoreIsBounded: a few bytes do not make a value longer than it may be.
func TestRestoreIsBounded(t *testing.T) {
	req := request("RESTORE", "k", "0", dumpOf(t, str(strings.Repeat("x", 1000))))
	req.MaxValue = 999
	reply, _, _ := execute(t, record.State{}, req, testNow)
	require.Equal(t, "-"+ErrTooLong+"\r\n", reply)
	_, large, _ := execute(t, record.State{}, request("HSET", "k", "a", strings.Repeat("x", 500), "b", strings.Repeat("x", 500)), testNow)
	req = request("RESTORE", "k", "0", dumpOf(t, large))
	req.MaxValue = 999
	reply, _, _ = execute(t, record.State{}, req, testNow)
	require.Equal(t, byte('-'), reply[0])
	reply, _, _ = execute(t, record.State{}, request("RESTORE", "k", "0", string(rdb.Seal([]byte("\x07\x01")))), testNow)
	require.Equal(t, "-"+errNoRestore+"\r\n", reply)
}

// TestADumpOfALargeHash: one that is in parts is dumped, and restored in parts.
func TestADumpOfALargeHash(t *testing.T) {
	args := []string{"HSET", "k"}
	for i := range 20_000 {
		args = append(args, fmt.Sprint("field", i), "value")
	}
	_, st, _ := execute(t, record.State{}, request(args...), testNow)
	require.NotNil(t, st.Object)
	_, again, _ := execute(t, record.State{}, request("RESTORE", "k", "0", dumpOf(t, st)), testNow)
	require.NotNil(t, again.Object)
	mine, err := io.ReadAll(st.Reader())
	require.NoError(t, err)
	theirs, err := io.ReadAll(again.Reader())
	require.NoError(t, err)
	require.Equal(t, len(mine), len(theirs))
	require.Equal(t, itemsOf(t, dumpOf(t, st)), itemsOf(t, dumpOf(t, again)))
}

// FuzzRestore: whatever a payload says, what it makes is a value.
func FuzzRestore(f *testing.F) {
	f.Add([]byte("\x04\x02\x01a\x01b\x01c\x01d"))
	f.Add([]byte("\x00\x05value"))
	f.Fuzz(func(t *testing.T, value []byte) {
		_, st, _ := execute(t, record.State{}, request("RESTORE", "k", "0", string(rdb.Seal(value))), testNow)
		if !st.Live() {
			return
		}
		_, again, _ := execute(t, record.State{}, request("RESTORE", "k", "0", dumpOf(t, st)), testNow)
		require.True(t, sameState(st, again))
	})
}
