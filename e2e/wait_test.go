package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestWaitForAllReplicas: WAIT 2 is answered 2 as soon as all three replicas hold what the client has written, and 1 as long as one of them misses it.
func TestWaitForAllReplicas(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	client := redis.NewClient(&redis.Options{Addr: c.Proxies[0].Client, MaxRetries: -1, ReadTimeout: time.Minute, PoolSize: 1})
	defer func() { require.NoError(t, client.Close()) }()
	ctx := context.Background()
	wait := func(copies int, timeout time.Duration) int64 {
		n, err := client.Wait(ctx, copies, timeout).Result()
		require.NoError(t, err)
		return n
	}
	l := startLoad(t, []string{c.Proxies[1].Client}) // others write, too, all the time
	l.progress(100)
	writes := map[string]func() error{
		"SET":  func() error { return client.Set(ctx, "a", "x", 0).Err() },
		"MSET": func() error { return client.MSet(ctx, "b", 1, "c", 2, "d", 3).Err() },
		"EXEC": func() error {
			_, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, "n"); return nil })
			return err
		},
		"EVAL":  func() error { return client.Eval(ctx, "redis.call('set', KEYS[1], 1) return 1", []string{"e"}).Err() },
		"BLPOP": func() error { client.RPush(ctx, "list", 1, 2); return client.BLPop(ctx, time.Second, "list").Err() },
	}
	for name, write := range writes {
		require.NoError(t, write(), name)
		require.EqualValues(t, 2, wait(2, 30*time.Second), name)
	}
	require.EqualValues(t, 2, wait(3, time.Millisecond), "there are two beside the first")

	gone := c.Nodes[2]
	gone.Stop()
	for name, write := range writes {
		cluster.Await(t, name+" without one node", func() bool { return write() == nil })
	}
	require.EqualValues(t, 1, wait(1, 0))
	begun := time.Now()
	require.EqualValues(t, 1, wait(2, 300*time.Millisecond))
	require.GreaterOrEqual(t, time.Since(begun), 300*time.Millisecond)

	answered := make(chan int64, 1)
	go func() { answered <- client.Wait(ctx, 2, 0).Val() }()
	select {
	case n := <-answered:
		t.Fatalf("WAIT 2 0 was answered %d while one node hung", n)
	case <-time.After(100 * time.Millisecond): // it is to be there for a while; if it is not yet it waits all the same
	}
	gone.Continue()
	select {
	case n := <-answered:
		require.EqualValues(t, 2, n)
	case <-time.After(time.Minute):
		t.Fatal("WAIT 2 0 is not answered though all nodes are there again")
	}
	l.stop()
	l.requireNothingLost(c.Proxies[0].Client)
}
