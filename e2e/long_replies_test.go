package e2e

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestLongReplies are whole, and of one moment, while their keys are written and others are served.
func TestLongReplies(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"memory", "badger"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: engine})
			client := connect(t, c.Proxies[0].Client)
			const n = 50_000
			fillNamed(t, client, n)
			defer keepWriting(t, client)()
			for range 5 {
				compareNamed(t, client, n)
			}
		})
	}
}

func nameOf(i int) string { return fmt.Sprintf("element-%06d", i) }

// fillNamed fills four keys with n elements each.
func fillNamed(t *testing.T, client *redis.Client, n int) {
	for first := 0; first < n; first += 250 {
		pipe := client.Pipeline()
		var elements, fields []any
		var members []redis.Z
		for i := first; i < first+250; i++ {
			elements = append(elements, nameOf(i))
			fields = append(fields, nameOf(i), i)
			members = append(members, redis.Z{Score: float64(i), Member: nameOf(i)})
		}
		pipe.RPush(t.Context(), "list", elements...)
		pipe.SAdd(t.Context(), "set", elements...)
		pipe.HSet(t.Context(), "hash", fields...)
		pipe.ZAdd(t.Context(), "zset", members...)
		_, err := pipe.Exec(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, client.HSet(t.Context(), "hash", "one", 0, "other", 0).Err())
}

// keepWriting writes two fields of the hash, which always have one value, and another key, until stop is called.
func keepWriting(t *testing.T, client *redis.Client) (stop func()) {
	ctx := t.Context()
	done := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if !assert.NoError(t, client.HSet(ctx, "hash", "one", i, "other", i).Err()) || !assert.NoError(t, client.Set(ctx, "key", i, 0).Err()) ||
				!assert.Equal(t, strconv.Itoa(i), client.Get(ctx, "key").Val()) {
				return
			}
		}
	})
	return func() { close(done); others.Wait() }
}

// compareNamed reads all of the four keys.
func compareNamed(t *testing.T, client *redis.Client, n int) {
	list, err := client.LRange(t.Context(), "list", 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, list, n)
	ranked, err := client.ZRangeWithScores(t.Context(), "zset", 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, ranked, n)
	set, err := client.SMembersMap(t.Context(), "set").Result()
	require.NoError(t, err)
	require.Len(t, set, n)
	hash, err := client.HGetAll(t.Context(), "hash").Result()
	require.NoError(t, err)
	require.Len(t, hash, n+2)
	require.Equal(t, hash["one"], hash["other"], "half of an HSET")
	for i, name := range list {
		_, member := set[name]
		if name != nameOf(i) || ranked[i].Member != name || ranked[i].Score != float64(i) || hash[name] != strconv.Itoa(i) || !member {
			require.Fail(t, "another reply", "%d: %s, %v, %s, %v", i, name, ranked[i], hash[name], member)
		}
	}
}
