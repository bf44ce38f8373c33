//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

// evicting starts three nodes with so much memory for data, which evict by a policy.
func evicting(t testing.TB, maxmemory, policy string) (*cluster.Cluster, *redis.Client) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Node: []string{"--maxmemory", maxmemory, "--maxmemory-policy", policy}})
	return c, connect(t, c.Proxies[0].Client)
}

// infoLine returns a field of INFO.
func infoLine(t testing.TB, client *redis.Client, name string) string {
	t.Helper()
	text, err := client.Info(t.Context()).Result()
	require.NoError(t, err)
	_, rest, found := strings.Cut(text, "\n"+name+":")
	require.True(t, found, name)
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// doer is a client, or one connection of it.
type doer interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// inWords is what a server says to a command, in words.
func inWords(ctx context.Context, client doer, args ...any) string {
	reply, err := client.Do(ctx, args...).Result()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(reply)
}

// TestOutOfMemorySameAsRedis: without room for more data each command, transaction, script and function is answered as Redis answers it, and has no effect if it is refused.
func TestOutOfMemorySameAsRedis(t *testing.T) {
	t.Parallel()
	_, quoll := evicting(t, "4MiB", "noeviction")
	theirs := connect(t, redistest.Start(t))
	for _, client := range []*redis.Client{quoll, theirs} {
		require.NoError(t, client.Set(t.Context(), "{k}there", "value", 0).Err())
		require.NoError(t, client.RPush(t.Context(), "{k}list", "a", "b").Err())
		require.NoError(t, client.Do(t.Context(), "FUNCTION", "LOAD", "#!lua name=memory\n"+
			"redis.register_function('writes', function(keys) return redis.call('SET', keys[1], 'v') end)\n"+
			"redis.register_function{function_name='allowed', callback=function(keys) return redis.call('DEL', keys[1]) end, flags={'allow-oom'}}\n"+
			"redis.register_function{function_name='reads', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}").Err())
	}
	value := strings.Repeat("v", 50_000)
	cluster.Await(t, "there is no memory for more", func() bool {
		for i := range 50 {
			if err := quoll.Set(t.Context(), fmt.Sprint("fill", rand.Int(), i), value, 0).Err(); err != nil {
				return strings.HasPrefix(err.Error(), "OOM ")
			}
		}
		return false
	})
	require.NoError(t, theirs.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for _, args := range [][]any{
		{"SET", "{k}new", "v"}, {"GET", "{k}new"}, {"GET", "{k}there"}, {"INCR", "{k}n"}, {"HSET", "{k}h", "f", "v"}, {"EXISTS", "{k}h", "{k}n"}, {"LPOP", "{k}list"}, {"EXPIRE", "{k}there", "1000"},
		{"MSET", "{k}a", "1", "{k}b", "2"}, {"EVAL", "return redis.call('GET', KEYS[1])", "1", "{k}there"}, {"EVAL", "return redis.pcall('SET', KEYS[1], 'v')['err']", "1", "{k}new"},
		{"EVAL", "redis.call('DEL', KEYS[2]) redis.call('SET', KEYS[1], 'after a write') return 1", "2", "{k}late", "{k}none"}, {"GET", "{k}late"},
		{"EVAL", "#!lua\nreturn 1", "1", "{k}there"}, {"EVAL", "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])", "1", "{k}there"},
		{"EVAL", "#!lua flags=allow-oom\nreturn redis.call('SET', KEYS[1], 'v')", "1", "{k}allowed"}, {"GET", "{k}allowed"},
		{"FCALL", "writes", "1", "{k}new"}, {"FCALL", "reads", "1", "{k}there"}, {"FCALL", "allowed", "1", "{k}allowed"}, {"DEL", "{k}there", "{k}list"}, {"CONFIG", "GET", "maxmemory-policy"},
	} {
		require.Equal(t, inWords(t.Context(), theirs, args...), inWords(t.Context(), quoll, args...), args)
	}
	ours, their := quoll.Conn(), theirs.Conn()
	defer ours.Close()
	defer their.Close()
	for _, args := range [][]any{{"MULTI"}, {"INCR", "{k}n"}, {"EXEC"}, {"MULTI"}, {"APPEND", "{k}n", "x"}, {"DISCARD"}} {
		require.Equal(t, inWords(t.Context(), their, args...), inWords(t.Context(), ours, args...), "%v: it is refused when it is queued", args)
	}
	for _, client := range []*redis.Client{quoll, theirs} {
		_, err := client.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
			p.Incr(t.Context(), "{k}n")
			return nil
		})
		require.ErrorContains(t, err, "EXECABORT Transaction discarded because of")
		require.EqualValues(t, 0, client.Exists(t.Context(), "{k}n").Val())
	}
	require.Equal(t, "4194304", infoLine(t, quoll, "maxmemory"))
	require.Equal(t, "4.00M", infoLine(t, quoll, "maxmemory_human"))
	require.Equal(t, "noeviction", infoLine(t, quoll, "maxmemory_policy"))
	require.Equal(t, "0", infoLine(t, quoll, "evicted_keys"))
}

// TestEvictionWhileNodesAreKilled: writers that never stop hear of no want of memory, while nodes are killed and come back; in the end all nodes hold the same, and no more than they may.
func TestEvictionWhileNodesAreKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes some hundred thousand keys")
	}
	t.Parallel()
	c, client := evicting(t, "96MiB", "allkeys-lru")
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	var written, refused atomic.Int64
	for w := range 2 {
		writers.Go(func() {
			client := connect(t, c.Proxies[0].Client)
			value := strings.Repeat("v", 1000)
			for i := 0; ctx.Err() == nil; i++ {
				p := client.Pipeline()
				for k := range 50 {
					p.Set(ctx, fmt.Sprintf("key:%d:%d", w, i*50+k), value, 0)
				}
				results, _ := p.Exec(ctx)
				for _, r := range results {
					switch err := r.Err(); {
					case err == nil:
						written.Add(1)
					case strings.HasPrefix(err.Error(), "OOM"):
						refused.Add(1)
					}
				}
			}
		})
	}
	more := func(n int64) {
		t.Helper()
		from := written.Load()
		cluster.Await(t, "writes go on", func() bool { return written.Load() > from+n })
	}
	for range 10 {
		more(10_000)
	}
	for _, victim := range []int{1, 2} {
		c.Nodes[victim].Kill()
		more(10_000)
		c.Nodes[victim].Start()
		require.Eventually(t, func() bool { ready, _ := c.Nodes[victim].Ready(); return ready }, 2*time.Minute, 100*time.Millisecond)
		more(10_000)
	}
	cancel()
	writers.Wait()
	keys := awaitConverged(t, c.Nodes, time.Now().Add(convergeWithin))
	t.Logf("%d written, %s evicted, %d there", written.Load(), infoLine(t, client, "evicted_keys"), keys)
	require.Zero(t, refused.Load())
	require.Greater(t, keys, 96<<20/2000)
	for _, n := range c.Nodes {
		require.Less(t, resident(t, n.Process)/1024, 96*6/5+256, "MiB")
	}
}

// trace is a sequence of reads of keys, of which few are read often (Zipf).
func trace(keys uint64, reads int) []string {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 10, keys-1)
	all := make([]string, reads)
	for i := range all {
		all[i] = "key:" + strconv.FormatUint(zipf.Uint64(), 10)
	}
	return all
}

// hitRate reads keys through a cache, and writes those that it has not: it returns how many of the second half it had, in percent.
func hitRate(t *testing.T, client *redis.Client, keys []string) float64 {
	t.Helper()
	const batch = 50
	value, hits := strings.Repeat("v", 200), 0
	for at := 0; at < len(keys); at += batch {
		part := keys[at:min(at+batch, len(keys))]
		reads := client.Pipeline()
		for _, key := range part {
			reads.Get(t.Context(), key)
		}
		results, _ := reads.Exec(t.Context())
		writes := client.Pipeline()
		for i, r := range results {
			switch err := r.Err(); {
			case errors.Is(err, redis.Nil):
				writes.Set(t.Context(), part[i], value, 0)
			case err != nil:
				require.NoError(t, err)
			case at >= len(keys)/2:
				hits++
			}
		}
		_, err := writes.Exec(t.Context())
		require.NoError(t, err)
	}
	return 100 * float64(hits) / float64(len(keys)-len(keys)/2)
}

// TestHitRate: as a cache Quoll finds as many keys of a Zipf trace as a Redis that holds as many keys.
func TestHitRate(t *testing.T) {
	if testing.Short() {
		t.Skip("reads half a million keys")
	}
	all := trace(100_000, 250_000)
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu"} {
		t.Run(policy, func(t *testing.T) {
			_, quoll := evicting(t, "12MiB", policy)
			ours := hitRate(t, quoll, all)
			fit := quoll.DBSize(t.Context()).Val()
			theirs := connect(t, redistest.Start(t))
			empty, err := strconv.Atoi(infoLine(t, theirs, "used_memory"))
			require.NoError(t, err)
			for i := range fit {
				require.NoError(t, theirs.Set(t.Context(), fmt.Sprint("key:", i), strings.Repeat("v", 200), 0).Err())
			}
			full := infoLine(t, theirs, "used_memory")
			require.NoError(t, theirs.FlushAll(t.Context()).Err())
			require.NoError(t, theirs.ConfigSet(t.Context(), "maxmemory-policy", policy).Err())
			require.NoError(t, theirs.ConfigSet(t.Context(), "maxmemory", full).Err())
			redis := hitRate(t, theirs, all)
			t.Logf("%s: %.1f %% of the reads find their key, %.1f %% in Redis; %d and %d keys fit, %s bytes in Redis, %d when empty",
				policy, ours, redis, fit, theirs.DBSize(t.Context()).Val(), full, empty)
			require.Greater(t, ours, redis-3)
		})
	}
}
