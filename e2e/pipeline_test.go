//go:build unix

package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

const (
	pipelineClients = 8
	pipelineDepth   = 50
)

// counters is a client that increments counters of its own, all in one pipeline at a time.
type counters struct {
	redis          *redis.Client
	keys           [pipelineDepth]string
	acked, unknown [pipelineDepth]int64
	failed         int
}

func (c *counters) round(done *atomic.Int64) {
	pipe := c.redis.Pipeline()
	for _, key := range c.keys {
		pipe.Incr(context.Background(), key)
	}
	replies, _ := pipe.Exec(context.Background())
	for i, reply := range replies {
		switch outcome.Of(reply.Err()) {
		case outcome.Answered:
			c.acked[i]++
			done.Add(1)
			continue
		case outcome.Unknown:
			c.unknown[i]++
		}
		c.failed++
	}
}

// TestOneNodeFailsUnderPipelines counts what a node that dies or hangs costs when
// every client has many commands under way.
func TestOneNodeFailsUnderPipelines(t *testing.T) {
	for name, fault := range map[string]func(*cluster.Member){
		"killed": func(m *cluster.Member) { m.Kill() },
		"hangs":  func(m *cluster.Member) { m.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
			var clients [pipelineClients]counters
			var done atomic.Int64
			var stopping atomic.Bool
			var running sync.WaitGroup
			for i := range clients {
				clients[i].redis = connect(t, c.Proxies[0].Client)
				for k := range clients[i].keys {
					clients[i].keys[k] = fmt.Sprint("counter:", i, ":", k)
				}
				running.Go(func() {
					for !stopping.Load() {
						clients[i].round(&done)
					}
				})
			}
			await := func(n int64) {
				until := done.Load() + n
				cluster.Await(t, "increments go on", func() bool { return done.Load() >= until })
			}
			await(20_000)
			fault(c.Nodes[0])
			await(20_000)
			stopping.Store(true)
			running.Wait()
			failed := 0
			for i := range clients {
				clients[i].requireNothingLost(t)
				failed += clients[i].failed
			}
			t.Logf("%d increments acknowledged, %d failed", done.Load(), failed)
			require.LessOrEqual(t, failed, pipelineClients*pipelineDepth, "more than can have been under way")
		})
	}
}

func (c *counters) requireNothingLost(t *testing.T) {
	t.Helper()
	for i, key := range c.keys {
		value, err := c.redis.Get(t.Context(), key).Int64()
		require.NoError(t, err)
		require.GreaterOrEqual(t, value, c.acked[i], "%s lost acknowledged increments", key)
		require.LessOrEqual(t, value, c.acked[i]+c.unknown[i], "%s was incremented too often", key)
	}
}
