package outcome

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/history"
	"github.com/quolldb/quoll/internal/redistest"
)

// TestRedisIsRight: what a real redis-server answers to the commands that tests draw is what the model of histories says, in its
// words. A model that knows less of Redis than this would call good servers wrong.
func TestRedisIsRight(t *testing.T) {
	address := redistest.Start(t)
	recorder, keys := history.NewRecorder(), history.NewKeys("k")
	var clients sync.WaitGroup
	for range 4 {
		client := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1})
		defer func() { require.NoError(t, client.Close()) }()
		recorded := recorder.Client()
		clients.Go(func() {
			for range 3000 {
				key, serial := keys.Next(1)
				call := recorded.Begin(history.Draw(key, serial, 0))
				value, err := client.Do(t.Context(), call.Command().Args()...).Result()
				call.Done(Reply(value, err))
				keys.Ended(key)
			}
		})
	}
	clients.Wait()
	result := recorder.Check(time.Minute)
	require.NoError(t, result.Err())
	require.Equal(t, 12_000, result.Operations, fmt.Sprint(result))
}
