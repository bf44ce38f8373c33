//go:build unix

package libraries

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill-redisstream/pkg/redisstream"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/stretchr/testify/require"
)

// received counts how often messages came, by what they say.
type received struct {
	mu    sync.Mutex
	times map[string]int
}

func (r *received) add(m *message.Message) (times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[string(m.Payload)]++
	return r.times[string(m.Payload)]
}

// all reports whether each message of so many came.
func (r *received) all(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.times) >= n
}

// subscribe subscribes to a topic at a proxy. A group is optional. The claims come soon.
func subscribe(t *testing.T, address, topic string, config redisstream.SubscriberConfig) (s *redisstream.Subscriber, messages <-chan *message.Message) {
	config.Client, config.ClaimInterval, config.MaxIdleTime = dialPrograms(t, address), 100*time.Millisecond, 2*time.Second
	config.FanOutOldestId = "0"
	s, err := redisstream.NewSubscriber(config, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool { messages, err = s.Subscribe(t.Context(), topic); return err == nil }, 30*time.Second, 10*time.Millisecond, "a node was just killed")
	return s, messages
}

// TestWatermill: what is published is heard by every listener, and by somebody of a group of workers, though some of these say no at first, one dies with what it has, and nodes are killed.
func TestWatermill(t *testing.T) {
	const topic, group, least = "orders", "workers", 500
	underKills(t, func(proxies []string, over func() bool) {
		publisher, err := redisstream.NewPublisher(redisstream.PublisherConfig{Client: dialPrograms(t, proxies[0])}, nil)
		if err != nil {
			t.Error(err)
			return
		}
		heard, done := received{times: map[string]int{}}, received{times: map[string]int{}}
		var denied sync.Map
		var subscribers sync.WaitGroup
		defer subscribers.Wait()
		for i := range 3 {
			s, messages := subscribe(t, proxies[i%2], topic, redisstream.SubscriberConfig{ConsumerGroup: group, Consumer: fmt.Sprint("worker-", i)})
			defer func() { _ = s.Close() }()
			subscribers.Go(func() {
				for m := range messages {
					if done.add(m) == 1 && strings.HasSuffix(m.UUID, "7") {
						denied.Store(string(m.Payload), true)
						m.Nack()
						continue
					}
					m.Ack()
				}
			})
		}
		listener, messages := subscribe(t, proxies[1], topic, redisstream.SubscriberConfig{})
		defer func() { _ = listener.Close() }()
		subscribers.Go(func() {
			for m := range messages {
				heard.add(m)
				m.Ack()
			}
		})
		dead, taken := subscribe(t, proxies[0], topic, redisstream.SubscriberConfig{ConsumerGroup: group, Consumer: "dead"})

		published := 0
		for ; published < least || !over(); published++ {
			m := message.NewMessage(fmt.Sprint("id-", published), []byte(fmt.Sprint("order ", published)))
			for publisher.Publish(topic, m) != nil { // of what is unknown there may be two
			}
			if published != least/2 {
				continue
			}
			lost := string((<-taken).Payload)
			require.NoError(t, dead.Close()) // it has said neither yes nor no
			t.Logf("a worker has died with %q", lost)
		}
		require.Eventually(t, func() bool { return heard.all(published) && done.all(published) }, time.Minute, 10*time.Millisecond)
		require.Eventually(t, func() bool {
			pending, err := dialPrograms(t, proxies[1]).XPending(context.Background(), topic, group).Result()
			return err == nil && pending.Count == 0
		}, time.Minute, 10*time.Millisecond, "somebody has what the dead one had, and what was taken by a read of which the outcome was unknown")
		for payload := range done.times {
			require.Contains(t, heard.times, payload)
		}
		require.Len(t, done.times, published)
		denied.Range(func(payload, _ any) bool {
			require.Greater(t, done.times[payload.(string)], 1, "%s was denied, and did not come again", payload)
			return true
		})
		t.Logf("%d messages", published)
	})
}
