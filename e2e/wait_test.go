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

// TestWaitForDisks: WAITAOF makes replicas write to their disks at once what they would write ten seconds later, and counts those that have.
func TestWaitForDisks(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: cluster.OnDisk(), Fsync: "interval=10s"})
	client := redis.NewClient(&redis.Options{Addr: c.Proxies[0].Client, MaxRetries: -1, ReadTimeout: time.Minute, PoolSize: 1})
	defer func() { require.NoError(t, client.Close()) }()
	ctx := context.Background()
	wait := func(local, others int, timeout time.Duration) []any {
		reply, err := client.Do(ctx, "WAITAOF", local, others, timeout.Milliseconds()).Slice()
		require.NoError(t, err)
		return reply
	}
	require.NoError(t, client.Set(ctx, "a", "x", 0).Err())
	begun := time.Now()
	require.Equal(t, []any{int64(1), int64(2)}, wait(1, 2, 30*time.Second))
	require.Less(t, time.Since(begun), 10*time.Second)
	c.Nodes[2].Stop()
	cluster.Await(t, "SET without one node", func() bool { return client.Set(ctx, "a", "y", 0).Err() == nil })
	require.Equal(t, []any{int64(1), int64(1)}, wait(1, 1, 30*time.Second))
	require.Equal(t, []any{int64(1), int64(1)}, wait(1, 2, 300*time.Millisecond))
	c.Nodes[2].Continue()
	require.Equal(t, []any{int64(1), int64(2)}, wait(1, 2, time.Minute))
}

// TestWaitForDisksThatThereAreNot: nodes that keep their data in memory say so.
func TestWaitForDisksThatThereAreNot(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Node: []string{"--replicas", "1"}})
	client := connect(t, c.Proxies[0].Client)
	require.ErrorContains(t, client.Do(t.Context(), "WAITAOF", 1, 0, 0).Err(), "appendonly is disabled")
	require.Equal(t, []any{int64(0), int64(0)}, client.Do(t.Context(), "WAITAOF", 0, 1, 0).Val())
}
