//go:build unix

package e2e

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// patient is for tests that put much through a cluster which may be slow: one under
// the race detector.
const patient = "--operation-timeout=10s"

func portOf(t testing.TB, address string) string {
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	return port
}

// TestFirstMinute does what the README and the welcome of `quoll dev` tell a newcomer to type.
func TestFirstMinute(t *testing.T) {
	t.Parallel()
	cli := needs(t, "redis-cli")
	dev, address := startDev(t)
	welcome := dev.Log()
	require.Contains(t, welcome, "Quoll runs: 3 nodes, every key on 3 of them, in memory. Redis clients connect to "+address)
	require.LessOrEqual(t, strings.Count(welcome, "\n"), 10)
	for _, step := range []struct{ command, want string }{
		{"ping", "PONG"}, {"set greeting hello", "OK"}, {"get greeting", "hello"}, {"incr visits", "1"}, {"incrby visits 10", "11"},
		{"set session abc EX 60", "OK"}, {"expiretime nothing", "-2"}, {"mset a 1 b 2 c 3", "OK"}, {"mget a b c d", "1\n2\n3"},
		{"type greeting", "string"}, {"getrange greeting 0 3", "hell"}, {"append greeting !", "6"}, {"setnx greeting x", "0"},
		{"del a b", "2"}, {"exists a b c", "1"}, {"dbsize", "4"}, {"strlen greeting", "6"}, {"rpush l x y", "2"}, {"lpop l", "x"}, {"lrange l 0 -1", "y"}, {"del l", "1"}, {"swapdb 0 1", "ERR 'SWAPDB' is not supported yet"},
		{"get", "ERR wrong number of arguments for 'get' command"}, {"-3 hello 3", "server"}, {"info server", "redis_version:7.0"},
		{"command count", ""}, {"config get databases", "databases"}, {"--scan --pattern g*", "greeting"}, {"flushall", "OK"}, {"dbsize", "0"},
	} {
		out := output(t, cli, append([]string{"-p", portOf(t, address)}, strings.Fields(step.command)...)...)
		require.True(t, strings.HasPrefix(strings.TrimSpace(out), step.want) || strings.Contains(out, step.want), "%s: %s", step.command, out)
	}
	require.NotContains(t, dev.Log(), "level=ERROR")
}

// TestRedisBenchmark runs its default string tests, with and without pipelining.
func TestRedisBenchmark(t *testing.T) {
	benchmark := needs(t, "redis-benchmark")
	_, address := startDev(t, patient)
	for _, pipeline := range []string{"1", "16"} {
		out := output(t, benchmark, "-p", portOf(t, address), "-t", "ping,set,get,incr,mset", "-n", "10000", "-r", "1000", "-P", pipeline, "-q")
		lines := strings.Split(strings.ReplaceAll(out, "\r", "\n"), "\n")
		for _, test := range []string{"PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "MSET (10 keys)"} {
			require.Contains(t, out, test+": ")
		}
		for _, line := range lines {
			require.NotRegexp(t, `(?i)error|warning|\bERR\b|UNKNOWN|CLUSTERDOWN`, line)
			if strings.Contains(line, "requests per second") {
				t.Log("-P", pipeline, line)
			}
		}
	}
}

func TestRedisPy(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3" // Debian's, which has python3-redis
	needs(t, python)
	_, address := startDev(t, patient)
	if version := output(t, python, "-c", "import importlib.util as u; print(u.find_spec('redis') is not None)"); strings.TrimSpace(version) != "True" {
		t.Skip("redis-py (Debian: python3-redis) is not installed")
	}
	require.Equal(t, "ok\n", output(t, python, "testdata/redis_py.py", portOf(t, address)))
}

func TestGoRedis(t *testing.T) {
	_, address := startDev(t, patient)
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprint("RESP", protocol), func(t *testing.T) {
			client := redis.NewClient(&redis.Options{Addr: address, Protocol: protocol})
			t.Cleanup(func() { _ = client.Close() })
			require.NoError(t, client.FlushAll(t.Context()).Err())
			goRedisStrings(t, client)
			goRedisPipelines(t, client)
			goRedisErrors(t, client)
		})
	}
}

func goRedisStrings(t *testing.T, client *redis.Client) {
	ctx := t.Context()
	require.NoError(t, client.Set(ctx, "k", "v", time.Minute).Err())
	require.InDelta(t, time.Minute, client.TTL(ctx, "k").Val(), float64(2*time.Second))
	require.EqualValues(t, -2, client.TTL(ctx, "none").Val())
	require.True(t, client.Persist(ctx, "k").Val())
	require.EqualValues(t, -1, client.TTL(ctx, "k").Val())
	require.ErrorIs(t, client.Get(ctx, "none").Err(), redis.Nil)
	require.ErrorIs(t, client.SetArgs(ctx, "k", "w", redis.SetArgs{Mode: "NX"}).Err(), redis.Nil)
	require.Equal(t, "v", client.SetArgs(ctx, "k", "w", redis.SetArgs{Get: true}).Val())
	require.Equal(t, 2.5, client.IncrByFloat(ctx, "f", 2.5).Val())
	require.EqualValues(t, 5, client.IncrBy(ctx, "n", 5).Val())
	require.NoError(t, client.MSet(ctx, "{t}a", "1", "{t}b", "2").Err())
	require.Equal(t, []any{"1", nil, "2"}, client.MGet(ctx, "{t}a", "none", "{t}b").Val())
	require.EqualValues(t, 1, client.Copy(ctx, "{t}a", "{t}c", 0, false).Val())
	require.Equal(t, "1", client.GetDel(ctx, "{t}c").Val())
	require.Equal(t, []int64{0, 5}, client.BitField(ctx, "bf", "SET", "u8", 0, 5, "GET", "u8", 0).Val())
	require.EqualValues(t, 2, client.Del(ctx, "{t}a", "{t}b", "none").Val())
	require.NoError(t, client.Set(ctx, "soon", "x", 30*time.Millisecond).Err())
	require.Eventually(t, func() bool { return client.Exists(ctx, "soon").Val() == 0 }, 10*time.Second, 5*time.Millisecond)
	large := strings.Repeat("x", 10<<20)
	require.NoError(t, client.Set(ctx, "large", large, 0).Err())
	require.Equal(t, large, client.Get(ctx, "large").Val())
}

func goRedisPipelines(t *testing.T, client *redis.Client) {
	ctx := t.Context()
	var last *redis.IntCmd
	replies, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := range 1000 {
			pipe.Set(ctx, fmt.Sprint("p:", i), i, 0)
			last = pipe.Incr(ctx, "pipelined")
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, replies, 2000)
	require.EqualValues(t, 1000, last.Val(), "commands on one key keep their order")
	seen := map[string]bool{}
	it := client.Scan(ctx, 0, "p:*", 100).Iterator()
	for it.Next(ctx) {
		seen[it.Val()] = true
	}
	require.NoError(t, it.Err())
	require.Len(t, seen, 1000)
	replies, err = client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "text", "x", 0)
		pipe.Incr(ctx, "text")
		pipe.Do(ctx, "SWAPDB", 0, 1)
		pipe.Get(ctx, "text")
		return nil
	})
	require.ErrorContains(t, err, "value is not an integer")
	require.ErrorContains(t, replies[2].Err(), "not supported yet")
	require.Equal(t, "x", replies[3].(*redis.StringCmd).Val(), "the rest of the pipeline goes on")
}

func goRedisErrors(t *testing.T, client *redis.Client) {
	ctx := t.Context()
	for text, args := range map[string][]any{
		"ERR unknown command 'nonsense', with args beginning with: 'x' ": {"nonsense", "x"},
		"ERR wrong number of arguments for 'set' command":                {"set", "k"},
		"ERR syntax error":                                                    {"set", "k", "v", "XY"},
		"ERR invalid expire time in 'set' command":                            {"set", "k", "v", "EX", "0"},
		"ERR value is not an integer or out of range":                         {"incrby", "n", "9999999999999999999"},
		"ERR increment or decrement would overflow":                           {"incrby", "n", "9223372036854775807"},
		"ERR bit offset is not an integer or out of range":                    {"setbit", "b", "-1", "1"},
		"ERR offset is out of range":                                          {"setrange", "k", "-1", "x"},
		"ERR 'SWAPDB' is not supported yet by Quoll; nothing was done. The c": {"swapdb", "0", "1"},
	} {
		err := client.Do(ctx, args...).Err()
		require.Error(t, err, args)
		require.True(t, strings.HasPrefix(err.Error(), text), "%v: %s", args, err)
	}
	// Another database has other keys.
	conn := client.Conn()
	defer conn.Close()
	require.ErrorContains(t, conn.Select(ctx, 16).Err(), "ERR DB index is out of range")
	require.NoError(t, conn.Select(ctx, 1).Err())
	require.ErrorIs(t, conn.Get(ctx, "k").Err(), redis.Nil)
	require.NoError(t, conn.Select(ctx, 0).Err())
	require.NoError(t, conn.Get(ctx, "k").Err())
	_, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Set(ctx, "tx", "1", 0).Err() })
	require.NoError(t, err)
	_, err = client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "tx", "2", 0)
		return pipe.Set(ctx, "of another slot", "2", 0).Err()
	})
	require.ErrorContains(t, err, "EXECABORT")
	require.Equal(t, "1", client.Get(ctx, "tx").Val())
}
