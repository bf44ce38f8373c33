//go:build unix

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestTooMuchAtOnceIsSlow: what is more than the cluster can do in the operation time-out takes longer. Nobody is refused, no
// outcome is unknown, and those who ask for little are served meanwhile.
func TestTooMuchAtOnceIsSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("moves hundreds of megabytes: -short was given")
	}
	for _, engine := range []string{"memory", "badger"} {
		t.Run(engine, func(t *testing.T) {
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: engine})
			t.Run("many large values", func(t *testing.T) {
				overload(t, c, func(t *testing.T, client *redis.Client) { manyLargeValues(t, client, 12, 16<<20) })
			})
			t.Run("values of 64 MiB", func(t *testing.T) {
				overload(t, c, func(t *testing.T, client *redis.Client) { manyLargeValues(t, client, 4, 64<<20) })
			})
			t.Run("half a million keys in one command", func(t *testing.T) { overload(t, c, veryManyKeys) })
		})
	}
}

// overload runs what is too much, with somebody beside it who asks for little.
func overload(t *testing.T, c *cluster.Cluster, tooMuch func(*testing.T, *redis.Client)) {
	address := c.Proxies[0].Client
	patient := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1, ReadTimeout: 2 * time.Minute, WriteTimeout: 2 * time.Minute, PoolSize: 20})
	defer patient.Close()
	ctx, stop := context.WithCancel(t.Context())
	var bystander sync.WaitGroup
	bystander.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			key, value := fmt.Sprint("bystander:", i%100), fmt.Sprint(i)
			if err := patient.Set(ctx, key, value, 0).Err(); err != nil && ctx.Err() == nil {
				t.Errorf("SET of somebody else: %v", err)
				return
			}
			if got, err := patient.Get(ctx, key).Result(); ctx.Err() == nil && (err != nil || got != value) {
				t.Errorf("GET of somebody else: %q, %v", got, err)
				return
			}
		}
	})
	tooMuch(t, patient)
	stop()
	bystander.Wait()
}

func manyLargeValues(t *testing.T, client *redis.Client, number, length int) {
	var clients sync.WaitGroup
	for i := range number {
		clients.Go(func() {
			value := bytes.Repeat([]byte{byte('a' + i)}, length)
			for round := range 2 {
				key := fmt.Sprintf("large:%d:%d", round, i%5)
				if err := client.Set(t.Context(), key, value, 0).Err(); err != nil {
					t.Errorf("SET of %d MiB: %v", length>>20, err)
				}
				if got, err := client.Get(t.Context(), key).Bytes(); err != nil || len(got) != len(value) {
					t.Errorf("GET of %d MiB: %d bytes, %v", length>>20, len(got), err)
				}
			}
		})
	}
	clients.Wait()
	for i := range 5 {
		require.NoError(t, client.Del(t.Context(), fmt.Sprintf("large:0:%d", i), fmt.Sprintf("large:1:%d", i)).Err())
	}
}

func veryManyKeys(t *testing.T, client *redis.Client) {
	const keys = 500_000
	set, get := make([]any, 0, 2*keys), make([]string, 0, keys)
	for i := range keys {
		key := fmt.Sprint("many:", i)
		set, get = append(set, key, i), append(get, key)
	}
	require.NoError(t, client.MSet(t.Context(), set...).Err())
	values, err := client.MGet(t.Context(), get...).Result()
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(keys-1), values[keys-1])
	deleted, err := client.Del(t.Context(), get...).Result()
	require.NoError(t, err)
	require.EqualValues(t, keys, deleted)
}
