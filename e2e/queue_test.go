//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// queue is what producers and consumers of some lists did.
type queue struct {
	mu      sync.Mutex
	pushed  map[string]bool // acknowledged; false if the outcome is unknown
	popped  map[string]int
	unknown int // pops with an unknown outcome
}

func (q *queue) note(do func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	do()
}

// TestQueuesHandOutOnce: consumers wait at two proxies, for lists in several slots, while each node is killed and comes back. What was acknowledged is handed out, once.
func TestQueuesHandOutOnce(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger"})
	ctx := t.Context()
	q := &queue{pushed: map[string]bool{}, popped: map[string]int{}}
	lists := []string{"jobs:1", "jobs:2", "jobs:3"}
	var stop, drained atomic.Bool
	var producers, consumers sync.WaitGroup
	client := func(i int) *redis.Client {
		client := redis.NewClient(&redis.Options{Addr: c.Proxies[i%2].Client, MaxRetries: -1, DisableIdentity: true, ReadTimeout: time.Minute})
		t.Cleanup(func() { client.Close() })
		return client
	}
	for i := range 6 {
		from := client(i)
		consumers.Go(func() {
			for {
				got, err := from.BLPop(ctx, 500*time.Millisecond, append(lists[i%3:], lists[:i%3]...)...).Result()
				switch {
				case err == nil:
					q.note(func() { q.popped[got[1]]++ })
				case errors.Is(err, redis.Nil):
					if drained.Load() {
						return
					}
				case strings.HasPrefix(err.Error(), "UNKNOWN"):
					q.note(func() { q.unknown++ })
				}
			}
		})
	}
	for i := range 4 {
		to := client(i)
		producers.Go(func() {
			for n := 0; !stop.Load(); n++ {
				element := fmt.Sprintf("%d-%d", i, n)
				err := to.RPush(ctx, lists[n%3], element).Err()
				if err == nil || strings.HasPrefix(err.Error(), "UNKNOWN") {
					q.note(func() { q.pushed[element] = err == nil })
				}
			}
		})
	}
	progress := func() {
		count := func() (n int) { q.note(func() { n = len(q.popped) }); return n }
		before := count()
		cluster.Await(t, "elements are handed out", func() bool { return count() > before+100 })
	}
	progress()
	for _, node := range c.Nodes {
		node.Kill()
		progress()
		node.Start()
		c.AwaitNodes()
	}
	progress()
	stop.Store(true)
	producers.Wait()
	drained.Store(true)
	consumers.Wait()

	missing := 0
	for element, acknowledged := range q.pushed {
		if acknowledged && q.popped[element] == 0 {
			missing++
		}
	}
	for element, times := range q.popped {
		_, known := q.pushed[element]
		require.True(t, known, "%s was handed out, and its push refused", element)
		require.Equal(t, 1, times, "%s was handed out more than once", element)
	}
	require.LessOrEqual(t, missing, q.unknown, "elements that were acknowledged were not handed out, and no pop has an unknown outcome for each")
	t.Logf("%d elements were handed out once; %d pops have an unknown outcome, %d elements are missing", len(q.popped), q.unknown, missing)
}
