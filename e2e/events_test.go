//go:build unix

package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

// eventHearer counts what it hears of keys.
type eventHearer struct {
	mu    sync.Mutex
	heard map[string]int // events by key
	other []string       // that are not those of INCR
}

func (h *eventHearer) hear(m *redis.Message) {
	_, key, _ := strings.Cut(m.Channel, "__:")
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.Payload != "incrby" {
		h.other = append(h.other, m.Payload+" of "+key)
	}
	h.heard[key]++
}

func (h *eventHearer) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.heard)
}

// eventWriter executes INCR on keys of its own, each once.
type eventWriter struct {
	client *redis.Client
	name   string
	next   int
	keys   map[string]outcome.Outcome
}

func (w *eventWriter) write(ctx context.Context) outcome.Outcome {
	key := fmt.Sprintf("k:%s:%d", w.name, w.next)
	w.next++
	w.keys[key] = outcome.Of(w.client.Incr(ctx, key).Err())
	return w.keys[key]
}

// TestEventsOfKilledHomes: clients at two proxies hear of writes, which one of the proxies was asked for, while each node is killed. What is heard is heard once, and was done or may have been; what a
// home has chosen and did not come to tell is missing, and nobody tells it later.
func TestEventsOfKilledHomes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("nodes are killed and started again")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger"})
	ctx := t.Context()
	client := func(i int) *redis.Client {
		client := redis.NewClient(&redis.Options{Addr: c.Clients()[i%2], MaxRetries: -1, Protocol: 2 + i%2})
		t.Cleanup(func() { client.Close() })
		return client
	}
	require.NoError(t, client(1).ConfigSet(ctx, "notify-keyspace-events", "K$").Err())
	var hearing sync.WaitGroup
	defer hearing.Wait() // behind the end of the subscriptions
	var hearers [2]*eventHearer
	for i := range hearers {
		h := &eventHearer{heard: map[string]int{}}
		hearers[i] = h
		subscription := client(i).PSubscribe(ctx, "__keyspace@0__:k:*")
		_, err := subscription.Receive(ctx)
		require.NoError(t, err)
		messages := subscription.Channel(redis.WithChannelSize(100_000))
		hearing.Go(func() {
			for m := range messages {
				h.hear(m)
			}
		})
		defer subscription.Close()
	}

	// Nobody is killed: everything is heard.
	quiet := &eventWriter{client: client(0), name: "quiet", keys: map[string]outcome.Outcome{}}
	for range 300 {
		require.Equal(t, outcome.Answered, quiet.write(ctx))
	}
	for _, h := range hearers {
		cluster.Await(t, "everything is heard", func() bool { return h.count() == 300 })
	}

	var over atomic.Bool
	var writing sync.WaitGroup
	writers := []*eventWriter{quiet}
	for i := range 4 {
		w := &eventWriter{client: client(i), name: fmt.Sprint(i), keys: map[string]outcome.Outcome{}}
		writers = append(writers, w)
		writing.Go(func() {
			for !over.Load() {
				w.write(ctx)
			}
		})
	}
	progress := func() {
		for _, h := range hearers {
			before := h.count()
			cluster.Await(t, "events are heard", func() bool { return h.count() > before+200 })
		}
	}
	progress()
	for _, node := range c.Nodes {
		node.Kill()
		progress()
		node.Start()
		c.AwaitNodes()
		progress()
	}
	over.Store(true)
	writing.Wait()

	// What is told of a write precedes its answer, on each way from a node to a proxy: behind one more write at each home nothing is on its way any more.
	last := &eventWriter{client: client(0), name: "last", keys: map[string]outcome.Outcome{}}
	for range 300 {
		require.Equal(t, outcome.Answered, last.write(ctx))
	}
	outcomes := map[string]outcome.Outcome{}
	for _, w := range append(writers, last) {
		for key, o := range w.keys {
			outcomes[key] = o
		}
	}
	for i, h := range hearers {
		cluster.Await(t, "the last events are heard", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			for key := range last.keys {
				if h.heard[key] == 0 {
					return false
				}
			}
			return true
		})
		h.mu.Lock()
		defer h.mu.Unlock()
		require.Empty(t, h.other)
		for key, times := range h.heard {
			require.Equal(t, 1, times, "%s was told more than once", key)
			require.Contains(t, outcomes, key)
			require.NotEqual(t, outcome.NoEffect, outcomes[key], "%s was told, and the write refused", key)
		}
		var acknowledged, missing, unknown, unknownHeard int
		for key, o := range outcomes {
			switch o {
			case outcome.Answered:
				if acknowledged++; h.heard[key] == 0 {
					missing++
				}
			case outcome.Unknown:
				if unknown++; h.heard[key] > 0 {
					unknownHeard++
				}
			}
		}
		t.Logf("hearer %d: of %d acknowledged writes %d are missing; of %d with an unknown outcome %d were heard", i, acknowledged, missing, unknown, unknownHeard)
		require.Less(t, missing, acknowledged/10, "a home that dies loses what it was about to tell, and no more")
	}
}
