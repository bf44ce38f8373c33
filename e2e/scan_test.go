//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestScanWhileKeysAreWritten checks what Redis promises of SCAN: a key that is there
// from the beginning to the end is returned, one that never was is not, whatever
// happens meanwhile; first with all nodes, then with one of them down.
func TestScanWhileKeysAreWritten(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	client := connect(t, c.Proxies[0].Client)
	const stable = 2000
	pipe := client.Pipeline()
	for i := range stable {
		pipe.Set(t.Context(), fmt.Sprint("stable:", i), i, 0)
		pipe.Set(t.Context(), fmt.Sprint("gone:", i), i, 0)
	}
	for i := range stable {
		pipe.Del(t.Context(), fmt.Sprint("gone:", i))
	}
	_, err := pipe.Exec(t.Context())
	require.NoError(t, err)

	for _, state := range []string{"all nodes", "one node down", "one node down for long"} {
		if state == "one node down" {
			c.Nodes[2].Kill()
		}
		stopChurn := churn(t, connect(t, c.Proxies[1].Client))
		for _, count := range []int64{10, 1000} {
			requireScan(t, client, state, count, stable)
		}
		stopChurn()
		size, err := client.DBSize(t.Context()).Result()
		require.NoError(t, err, state)
		keys, err := client.Keys(t.Context(), "*").Result()
		require.NoError(t, err, state)
		require.Len(t, keys, int(size), state)
		keys, err = client.Keys(t.Context(), "stable:1??").Result()
		require.NoError(t, err, state)
		require.Len(t, keys, 100, state)
		key, err := client.RandomKey(t.Context()).Result()
		require.NoError(t, err, state)
		require.EqualValues(t, 1, client.Exists(t.Context(), key).Val(), state)
	}

	require.NoError(t, client.FlushAll(t.Context()).Err())
	for _, address := range c.Clients() {
		client := connect(t, address)
		require.EqualValues(t, 0, client.DBSize(t.Context()).Val())
		require.Empty(t, client.Keys(t.Context(), "*").Val())
		require.ErrorIs(t, client.RandomKey(t.Context()).Err(), redis.Nil)
		require.ErrorIs(t, client.Get(t.Context(), "stable:1").Err(), redis.Nil)
	}
	require.NoError(t, client.Set(t.Context(), "after", "1", 0).Err())
	require.EqualValues(t, 1, client.DBSize(t.Context()).Val())
}

// requireScan scans once.
func requireScan(t *testing.T, client *redis.Client, state string, count int64, stable int) {
	t.Helper()
	seen := map[string]bool{}
	for _, pattern := range []string{"", "stable:*"} {
		clear(seen)
		it := client.Scan(t.Context(), 0, pattern, count).Iterator()
		for it.Next(t.Context()) {
			seen[it.Val()] = true
			require.False(t, strings.HasPrefix(it.Val(), "gone:"), "%s: %s was deleted before the scan", state, it.Val())
			require.True(t, pattern == "" || strings.HasPrefix(it.Val(), "stable:"), it.Val())
		}
		require.NoError(t, it.Err(), state)
		for i := range stable {
			require.True(t, seen[fmt.Sprint("stable:", i)], "%s: stable:%d was there all the time and was not returned", state, i)
		}
	}
}

// churn writes and deletes keys until stop is called. Stable keys are overwritten,
// which does not end their being there.
func churn(t *testing.T, client *redis.Client) (stop func()) {
	return repeatedly(func(i int) {
		pipe := client.Pipeline()
		pipe.Set(t.Context(), fmt.Sprint("churn:", i%500), i, 0)
		pipe.Del(t.Context(), fmt.Sprint("churn:", (i+250)%500))
		pipe.Append(t.Context(), fmt.Sprint("stable:", i%2000), "x")
		// A write that a killed node had is unknown to this client; it does not matter here.
		_, _ = pipe.Exec(t.Context())
	})
}

// repeatedly calls a function with 0, 1, 2 and so on, until stop is called.
func repeatedly(work func(i int)) (stop func()) {
	var stopping atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !stopping.Load(); i++ {
			work(i)
		}
	}()
	return func() {
		stopping.Store(true)
		<-done
	}
}
