package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

// onLarge are scripts that change a large key several times: it travels, and is kept, as what they change.
var onLarge = map[string]string{
	"hash": "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) redis.call('HDEL', KEYS[1], ARGV[3]) redis.call('PEXPIRE', KEYS[1], 99999999) return redis.call('HINCRBY', KEYS[1], 'counter', 1)",
	"zset": "redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) redis.call('ZREMRANGEBYRANK', KEYS[1], 3, 3) redis.call('PERSIST', KEYS[1]) return {redis.call('ZCARD', KEYS[1]), redis.call('ZINCRBY', KEYS[1], 1, ARGV[3])}",
	"list": "redis.call('RPUSH', KEYS[1], ARGV[1]) redis.call('LSET', KEYS[1], ARGV[2], ARGV[3]) redis.call('LREM', KEYS[1], 1, ARGV[2]) return redis.call('LPOP', KEYS[1])",
	"set":  "redis.call('SADD', KEYS[1], ARGV[1], ARGV[2]) redis.pcall('INCR', KEYS[1]) return redis.call('SREM', KEYS[1], ARGV[3])",
	"text": "redis.call('SETRANGE', KEYS[1], ARGV[2], ARGV[1]) redis.call('APPEND', KEYS[1], ARGV[3]) return redis.call('STRLEN', KEYS[1])",
}

// TestScriptsOnLargeKeys are as on Redis, and what they have done is there when all nodes were killed at once.
func TestScriptsOnLargeKeys(t *testing.T) {
	t.Parallel()
	const elements, rounds = 3000, 40
	for _, engine := range []string{"pebble", "badger"} {
		t.Run(engine, func(t *testing.T) {
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: engine})
			both := []*redis.Client{connect(t, redistest.Start(t)), connect(t, c.Proxies[0].Client)}
			ctx := t.Context()
			same := func(do func(*redis.Client) any) {
				t.Helper()
				require.Equal(t, do(both[0]), do(both[1]))
			}
			for _, client := range both {
				fillLarge(ctx, t, client, elements)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range rounds {
				for key, script := range onLarge {
					args := []any{fmt.Sprint("new", random.IntN(100)), random.IntN(elements / 2), fmt.Sprint("e", random.IntN(elements))}
					same(func(client *redis.Client) any { return client.Eval(ctx, script, []string{key}, args...).Val() })
				}
				member := fmt.Sprint("e", random.IntN(elements))
				same(func(client *redis.Client) any { // the same as a transaction
					var replies []any
					done, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
						pipe.ZAdd(ctx, "zset", redis.Z{Score: 7, Member: member})
						pipe.ZRemRangeByScore(ctx, "zset", "10", "11")
						pipe.ZCard(ctx, "zset")
						return nil
					})
					require.NoError(t, err)
					for _, cmd := range done {
						replies = append(replies, cmd.(*redis.IntCmd).Val())
					}
					return replies
				})
			}
			for _, node := range c.Nodes {
				node.Kill()
			}
			for _, node := range c.Nodes {
				node.Start()
			}
			c.AwaitNodes()
			cluster.Await(t, "all is there", func() bool { return both[1].Exists(ctx, "hash", "zset", "list", "set", "text").Val() == 5 })
			same(func(client *redis.Client) any { return client.HGetAll(ctx, "hash").Val() })
			same(func(client *redis.Client) any { return client.ZRangeWithScores(ctx, "zset", 0, -1).Val() })
			same(func(client *redis.Client) any { return client.LRange(ctx, "list", 0, -1).Val() })
			same(func(client *redis.Client) any { return client.SMembersMap(ctx, "set").Val() })
			same(func(client *redis.Client) any { return client.Get(ctx, "text").Val() })
		})
	}
}

// fillLarge makes the keys.
func fillLarge(ctx context.Context, t *testing.T, client *redis.Client, elements int) {
	pipe := client.Pipeline()
	for i := range elements {
		e := fmt.Sprint("e", i)
		pipe.HSet(ctx, "hash", e, i)
		pipe.ZAdd(ctx, "zset", redis.Z{Score: float64(i), Member: e})
		pipe.RPush(ctx, "list", e)
		pipe.SAdd(ctx, "set", e)
		pipe.Append(ctx, "text", "0123456789")
		if i%1000 == 999 || i == elements-1 {
			_, err := pipe.Exec(ctx)
			require.NoError(t, err)
		}
	}
}
