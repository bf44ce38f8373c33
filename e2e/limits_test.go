//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestLimitsAreThoseOfTheCluster: what CONFIG SET says at one proxy all nodes work by when it answers, within a second every proxy shows it, and a node that comes back has it, too. Without a
// majority it is refused, and what was in force stays.
func TestLimitsAreThoseOfTheCluster(t *testing.T) {
	const mib = 1 << 20
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Node: []string{"--maxmemory", "64MiB", "--memory", "1GiB"}})
	one, other := loggedIn(t, c.Proxies[0].Client, "", ""), loggedIn(t, c.Proxies[1].Client, "", "")
	get := func(name string) string { return do(t, other, "CONFIG GET "+name).([]any)[1].(string) }
	require.Equal(t, fmt.Sprint(64*mib), get("maxmemory"))

	for i := range 300 {
		require.NoError(t, one.Set(t.Context(), fmt.Sprint("key", i), strings.Repeat("v", mib/10), 0).Err())
	}
	require.Equal(t, "OK", do(t, one, "CONFIG SET maxmemory 16mb maxmemory-policy allkeys-lru maxmemory-samples 9 lfu-log-factor 8 lfu-decay-time 7"))
	require.Eventually(t, func() bool { return get("maxmemory") == fmt.Sprint(16*mib) }, time.Second, 5*time.Millisecond)
	for name, want := range map[string]string{"maxmemory-policy": "allkeys-lru", "maxmemory-samples": "9", "lfu-log-factor": "8", "lfu-decay-time": "7"} {
		require.Equal(t, want, get(name))
	}
	require.Equal(t, "16.00M", infoLine(t, one, "maxmemory_human"))
	for i := range 300 { // what is beyond the limit goes, and nobody is refused
		require.NoError(t, one.Set(t.Context(), fmt.Sprint("more", i), strings.Repeat("v", mib/10), 0).Err())
	}
	cluster.Await(t, "keys have gone", func() bool { return one.DBSize(t.Context()).Val() < 170 })

	// A node that has lost its memory, and more than there is room for.
	if !testing.Short() { // it collects all slots
		c.Kill(c.Nodes[2])
		c.Nodes[2].Start()
		c.Nodes[2].AwaitReady()
	}
	require.Equal(t, "OK", do(t, other, "CONFIG SET maxmemory 500gb"))
	cluster.Await(t, "all nodes have as much as they have room for", func() bool {
		var n int
		_, err := fmt.Sscan(get("maxmemory"), &n)
		return err == nil && n > 64*mib && n < 1024*mib && get("maxmemory-policy") == "allkeys-lru"
	})
	require.Equal(t, "OK", do(t, one, "CONFIG SET maxmemory 0"))
	require.Eventually(t, func() bool { return get("maxmemory") == fmt.Sprint(64*mib) }, time.Second, 5*time.Millisecond)

	c.Kill(c.Nodes[1], c.Nodes[2])
	require.Regexp(t, "^(ERR the parameters of the cluster were not changed|UNKNOWN the change of parameters|CLUSTERDOWN no node can be asked).*quoll ring status", do(t, one, "CONFIG SET timeout 99 maxmemory 1gb"))
	require.Equal(t, fmt.Sprint(64*mib), get("maxmemory"))
	require.Equal(t, []any{"timeout", "0"}, do(t, one, "CONFIG GET timeout"))
}

// TestAHigherLimitIsInForceAtOnce: when CONFIG SET answers, writes work that were refused for want of memory.
func TestAHigherLimitIsInForceAtOnce(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	client := loggedIn(t, c.Proxies[0].Client, "", "")
	require.NoError(t, client.Set(t.Context(), "there", "x", 0).Err())
	for range 3 {
		require.Equal(t, "OK", do(t, client, "CONFIG SET maxmemory 1"))
		cluster.Await(t, "there is no memory", func() bool {
			err := client.Set(t.Context(), "there", "y", 0).Err()
			return err != nil && strings.HasPrefix(err.Error(), "OOM ")
		})
		require.Equal(t, "OK", do(t, client, "CONFIG SET maxmemory 0"))
		for i := range 100 {
			require.NoError(t, client.Set(t.Context(), fmt.Sprint("key", i), "v", 0).Err())
		}
	}
}

// TestDeletionsNeedNoMemory: what makes the data smaller, or leaves it as long, is executed though there is far more data than there may be; so is what deletes by a transaction, a script, or FUNCTION FLUSH.
func TestDeletionsNeedNoMemory(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	client := loggedIn(t, c.Proxies[0].Client, "", "")
	const many = 20_000
	fill := map[string][]any{"hash": {"hset", "hash"}, "list": {"rpush", "list"}, "set": {"sadd", "set"}, "zset": {"zadd", "zset"}}
	for i := range many {
		fill["hash"] = append(fill["hash"], fmt.Sprint("f", i), "value")
		fill["list"] = append(fill["list"], fmt.Sprint("e", i))
		fill["set"] = append(fill["set"], fmt.Sprint("m", i))
		fill["zset"] = append(fill["zset"], i, fmt.Sprint("m", i))
	}
	for _, command := range fill {
		require.NoError(t, client.Do(t.Context(), command...).Err())
	}
	do(t, client, "MSET a 1 b 2 c 3 {x}a 1 {x}b 2")
	do(t, client, "XADD stream * a b")
	do(t, client, "XGROUP CREATE stream g 0")
	require.Equal(t, "lib", client.FunctionLoad(t.Context(), "#!lua name=lib\nredis.register_function('f', function() return 1 end)").Val())
	require.Equal(t, "OK", do(t, client, "CONFIG SET maxmemory 1"))
	for _, command := range []string{"HDEL hash f1", "HGETALL hash", "LPOP list", "LTRIM list 5 -1", "LREM list 1 e9", "SREM set m1", "SPOP set", "ZREM zset m1", "ZPOPMIN zset", "ZREMRANGEBYRANK zset 0 9",
		"EXPIRE hash 1000", "PERSIST hash", "RENAME a {a}z", "SMOVE set {set}2 m7", "RENAME zset {zset}2", "RENAME {zset}2 zset", "XREADGROUP GROUP g c STREAMS stream >", "DEL stream {set}2", "GETDEL b", "DEL {x}a {x}b", "MULTI", "DEL c", "EXEC", "FUNCTION FLUSH", "DEL hash", "UNLINK list set zset"} {
		reply, err := client.Do(t.Context(), words(command)...).Result()
		require.NoError(t, err, command)
		require.NotEqual(t, int64(0), reply, command)
	}
	deleted, err := client.Eval(t.Context(), "return redis.call('del', KEYS[1])", []string{"{a}z"}).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, deleted)
	require.Equal(t, []string{}, client.Keys(t.Context(), "*").Val())
	require.ErrorContains(t, client.Set(t.Context(), "more", "x", 0).Err(), "OOM")
}

// TestLimitsOutliveTheEndOfAllProcesses where nodes keep the ring: two are on disk, and have no such limit, and one is in memory.
func TestLimitsOutliveTheEndOfAllProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("all processes end and start again")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: cluster.OnDisk(), InMemory: []string{"c"}})
	client := loggedIn(t, c.Proxies[0].Client, "", "")
	require.Equal(t, "OK", do(t, client, "CONFIG SET maxmemory 20mb maxmemory-policy volatile-lfu"))
	c.KillAll()
	for _, n := range c.Nodes {
		n.Start()
	}
	for _, n := range c.Nodes[:2] { // the one in memory has to collect all slots from their disks, which takes its time
		n.AwaitReady()
	}
	cluster.Await(t, "the node in memory has what was set", func() bool {
		return fmt.Sprint(do(t, client, "CONFIG GET maxmemory maxmemory-policy")) == "[maxmemory 20971520 maxmemory-policy volatile-lfu]"
	})
	require.Equal(t, "OK", do(t, client, "CONFIG SET maxmemory-policy noeviction"))
}

// TestNodesOnDiskAreNotLimited by CONFIG SET, and say so.
func TestNodesOnDiskAreNotLimited(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Engine: cluster.OnDisk(), Node: []string{"--replicas", "1"}})
	client := loggedIn(t, c.Proxies[0].Client, "", "")
	require.Contains(t, do(t, client, "CONFIG SET maxmemory-policy allkeys-lru"), "nodes on disk evict nothing")
	require.Equal(t, "OK", do(t, client, "CONFIG SET maxmemory-policy noeviction"))
}
