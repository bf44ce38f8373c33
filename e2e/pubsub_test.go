//go:build unix

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

// listener hears what publishers say, and looks at its order.
type listener struct {
	mu    sync.Mutex
	last  map[string]int // by publisher
	heard int
	wrong []string
}

func (l *listener) hear(text string) {
	publisher, number, _ := strings.Cut(text, " ")
	n, _ := strconv.Atoi(number)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard++
	if n <= l.last[publisher] {
		l.wrong = append(l.wrong, fmt.Sprintf("%d after %d of %s", n, l.last[publisher], publisher))
	}
	l.last[publisher] = n
}

func (l *listener) of(publisher string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[publisher]
}

// TestMessages: subscribers at two proxies hear publishers at both, each in its order and nothing twice, while nodes are killed; and go-redis subscribes again when its proxy was.
func TestMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("nodes are killed and started again")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	ctx := context.Background()
	var listeners [4]*listener
	var wait sync.WaitGroup
	defer wait.Wait() // behind the end of the subscriptions
	for i := range listeners {
		l := &listener{last: map[string]int{}}
		listeners[i] = l
		client := redis.NewClient(&redis.Options{Addr: c.Clients()[i%2], Protocol: 2 + i/2})
		defer client.Close()
		subscribe, name := client.Subscribe, "news"
		if i >= 2 {
			subscribe, name = client.PSubscribe, "n?ws"
		}
		subscription := subscribe(ctx, name)
		_, err := subscription.Receive(ctx)
		require.NoError(t, err)
		messages := subscription.Channel(redis.WithChannelSize(10_000))
		wait.Go(func() {
			for m := range messages {
				l.hear(m.Payload)
			}
		})
		defer subscription.Close()
	}

	// Nobody is killed: each message is heard four times, and is so when PUBLISH says so.
	quiet := redis.NewClient(&redis.Options{Addr: c.Clients()[1], MaxRetries: -1})
	defer quiet.Close()
	for n := 1; n <= 300; n++ {
		heard, err := quiet.Publish(ctx, "news", fmt.Sprint("quiet ", n)).Result()
		require.NoError(t, err)
		require.EqualValues(t, len(listeners), heard)
	}
	for _, l := range listeners {
		cluster.Await(t, "everything is heard", func() bool { return l.of("quiet") == 300 })
		require.Equal(t, 300, l.heard)
	}

	var over atomic.Bool
	var publishers sync.WaitGroup
	var published [4]int
	for i := range published {
		client := redis.NewClient(&redis.Options{Addr: c.Clients()[i%2], MaxRetries: -1})
		defer client.Close()
		publishers.Go(func() {
			for n := 1; !over.Load(); n++ {
				if outcome.Of(client.Publish(ctx, "news", fmt.Sprint("p", i, " ", n)).Err()) == outcome.Answered {
					published[i]++
				}
			}
		})
	}
	for _, node := range c.Nodes {
		node.Kill()
		node.Start()
		node.AwaitReady()
	}
	over.Store(true)
	publishers.Wait()
	for i := range published {
		require.Greater(t, published[i], 100, "publishers go on")
	}
	c.Proxies[0].Kill()
	c.Proxies[0].Start()
	c.Proxies[0].AwaitReady()
	cluster.Await(t, "everybody has subscribed again", func() bool {
		heard, err := quiet.Publish(ctx, "news", "again "+strconv.FormatInt(again.Add(1), 10)).Result()
		return err == nil && heard == int64(len(listeners))
	})
	for _, l := range listeners {
		cluster.Await(t, "it hears", func() bool { return l.of("again") > 0 })
		require.Empty(t, l.wrong)
	}
}

// again numbers messages.
var again atomic.Int64
