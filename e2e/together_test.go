//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

// dialogue is what a server replies to commands, one after the other, on one connection. Arrays of strings have no order.
func dialogue(t *testing.T, conn *redis.Conn, commands ...string) (replies []string) {
	for _, command := range commands {
		var args []any
		for _, arg := range strings.Fields(command) {
			args = append(args, strings.ReplaceAll(arg, "_", " "))
		}
		reply, err := conn.Do(t.Context(), args...).Result()
		if err != nil {
			reply = err
		}
		replies = append(replies, command+": "+sorted(reply))
	}
	return replies
}

func sorted(reply any) string {
	list, ok := reply.([]any)
	if !ok {
		return fmt.Sprint(reply)
	}
	var texts []string
	keys := true
	for _, one := range list {
		text, ok := one.(string)
		keys = keys && ok && strings.HasPrefix(text, "k")
		texts = append(texts, sorted(one))
	}
	if keys {
		slices.Sort(texts)
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// TestAllKeysOfADatabaseThatIsTogether: what is on all keys is executed in transactions and scripts as in Redis.
func TestAllKeysOfADatabaseThatIsTogether(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	placed(t, c, 1, "together")
	placed(t, c, 2, "together")
	quoll := inDatabase(t, c.Proxies[0].Client, 1)
	redisServer := redis.NewClient(&redis.Options{Addr: redistest.Start(t), DB: 1, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { redisServer.Close() })
	cluster.Await(t, "the proxy hears of it", func() bool { return quoll.Exists(t.Context(), "x").Err() == nil })
	for _, commands := range [][]string{
		{"multi", "set k1 1", "dbsize", "keys *", "scan 0", "randomkey", "del k1", "dbsize", "randomkey", "keys *", "exec", "dbsize"},
		{"mset k1 1 k2 2 k3 3", "rpush klist 1", "multi", "dbsize", "set k4 4", "dbsize", "keys k[12]", "scan 0 match k* type list", "scan 0 type string count 1000", "scan 0 count 0", "scan x", "scan 0 match", "exec"},
		{"multi", "dbsize", "exec", "multi", "keys *", "dbsize", "exec"},
		{"watch k1", "multi", "dbsize", "exec", "watch k1", "set k1 2", "multi", "dbsize", "exec"},
		{"set kgone 1 px 1", "blpop nolist 0.02", "multi", "get kgone", "dbsize", "keys *", "exec"},
		{"multi", "set k5 5", "flushdb", "dbsize", "set k6 6", "dbsize", "exec", "keys *", "get k5"},
		{"multi", "set k5 5", "flushdb nonsense", "flushdb async", "flushdb sync", "exec", "dbsize"},
		{"mset k1 1 k2 2", "eval return_redis.call('dbsize') 0", "eval return_redis.call('keys','*') 0", "eval return_redis.call('scan',0) 0", "eval return_redis.call('scan',0,'match','k1') 1 k2"},
		{"eval redis.call('set','k9',9)_return_{redis.call('dbsize'),redis.call('keys','*')} 0", "eval redis.call('del','k9','k1')_return_redis.call('randomkey') 0"},
		{"eval redis.call('flushdb')_redis.call('set','k7',1)_return_redis.call('keys','*') 0", "dbsize", "eval_ro return_redis.call('dbsize') 0", "eval_ro return_redis.pcall('flushdb') 0",
			"eval return_redis.pcall('scan','x') 0", "eval return_redis.pcall('flushdb','x') 0"},
		{"multi", "eval return_redis.call('dbsize') 0", "set k8 1", "eval return_redis.call('dbsize') 0", "exec", "multi", "dbsize", "ping", "get k8", "exec"},
		{"multi", "select 2", "set kother 1", "dbsize", "select 1", "exec", "select 1"},
		{"multi", "select 2", "set kother 1", "dbsize", "keys *", "flushdb", "exec", "select 1", "dbsize"},
		{"flushdb", "eval redis.call('set','k1',1)_redis.call('flushdb')_return_redis.call('randomkey') 0", "dbsize"},
	} {
		mine, theirs := quoll.Conn(), redisServer.Conn()
		require.Equal(t, dialogue(t, theirs, commands...), dialogue(t, mine, commands...))
		require.NoError(t, mine.Close())
		require.NoError(t, theirs.Close())
	}
	conn := quoll.Conn()
	defer conn.Close()
	require.Contains(t, dialogue(t, conn, "multi", "set k 1", "select 2", "dbsize", "exec")[3], "CROSSSLOT this is on keys of two databases")
	for _, command := range []string{"move k1 2", "copy k1 k1 db 2", "eval return_redis.pcall('move','k1',2) 0"} { // two that are placed together are in two slots
		require.Contains(t, dialogue(t, conn, "set k1 1", command)[1], "DUMP it, RESTORE it in the other database")
	}
	require.Contains(t, dialogue(t, conn, "select 3", "multi", "set k 1", "dbsize", "exec")[3], "unless the database is placed together")
	require.Contains(t, dialogue(t, conn, "eval return_redis.call('dbsize') 0")[0], "unless their database is placed together")
}

// TestAllKeysAtOnce: a transaction that counts keys, or deletes all, is one write: nobody sees a part of it, and it sees no part of another one, whoever leads the slot.
func TestAllKeysAtOnce(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	placed(t, c, 1, "together")
	ctx := t.Context()
	clients := []*redis.Client{inDatabase(t, c.Proxies[0].Client, 1), inDatabase(t, c.Proxies[1].Client, 1)}
	for _, client := range clients {
		cluster.Await(t, "the proxies hear of it", func() bool { return client.Exists(ctx, "x").Err() == nil })
	}
	// Keys come and go in pairs. So there is always an even number of them, until they are counted: the count is a key, too, and goes with it.
	var counted, flushed, busy atomic.Int64
	var stop atomic.Bool
	var wait sync.WaitGroup
	ignored := func(err error) bool {
		if err == nil {
			return false
		}
		text := err.Error() // a machine that is busy, and a node that hangs, are answered with each of them
		return strings.HasPrefix(text, "TRYAGAIN") || strings.HasPrefix(text, "NOTDONE") || strings.HasPrefix(text, "UNKNOWN") || strings.Contains(text, "too many times")
	}
	for w, client := range clients {
		wait.Go(func() {
			for i := 0; !stop.Load(); i++ {
				a, b := fmt.Sprint("a", w, ":", i%7), fmt.Sprint("b", w, ":", i%7)
				_, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
					if i%2 == 0 {
						pipe.MSet(ctx, a, i, b, i)
					} else {
						pipe.Del(ctx, a, b)
					}
					return nil
				})
				if err != nil && !ignored(err) {
					t.Errorf("%v", err)
					return
				}
			}
		})
		wait.Go(func() {
			for i := 0; !stop.Load(); i++ {
				var size *redis.IntCmd
				var keys *redis.StringSliceCmd
				_, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
					pipe.Set(ctx, "counting", i, 0)
					if i%20 == 0 {
						pipe.FlushDB(ctx)
						pipe.Set(ctx, "counting", i, 0)
					}
					size, keys = pipe.DBSize(ctx), pipe.Keys(ctx, "*")
					pipe.Del(ctx, "counting")
					return nil
				})
				switch {
				case ignored(err):
					busy.Add(1)
					continue
				case err != nil:
					t.Errorf("%v", err)
					return
				case size.Val()%2 != 1 || int(size.Val()) != len(keys.Val()) || i%20 == 0 && size.Val() != 1:
					t.Errorf("there are %d keys, of which %q", size.Val(), keys.Val())
					return
				}
				if counted.Add(1); i%20 == 0 {
					flushed.Add(1)
				}
			}
		})
	}
	progress := func() {
		n, f := counted.Load(), flushed.Load()
		cluster.Await(t, "counts", func() bool { return counted.Load() > n+30 && flushed.Load() > f+1 || t.Failed() })
	}
	progress()
	for _, node := range c.Nodes[:2] {
		node.Stop()
		progress()
		node.Continue()
		progress()
	}
	stop.Store(true)
	wait.Wait()
	t.Logf("%d counts, %d of them after FLUSHDB, %d refused", counted.Load(), flushed.Load(), busy.Load())
}
