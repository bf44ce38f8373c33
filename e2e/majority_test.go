//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

const majorityKeys = 60

func old(i int) (key, value string) { return fmt.Sprint("k:", i), fmt.Sprint("old ", i) }

// startSeeded starts three nodes and a proxy that hold majorityKeys keys.
func startSeeded(t testing.TB) (*cluster.Cluster, *redis.Client) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	client := connect(t, c.Proxies[0].Client)
	for i := range majorityKeys {
		key, value := old(i)
		require.NoError(t, client.Set(t.Context(), key, value, 0).Err())
	}
	return c, client
}

// refused sends a write and a read of every key, all at once, none of which can
// succeed, and returns by key how the writes ended. An answer that does not come within the
// operation time-out and some slack fails the test: it is the client's time-out then.
func refused(t *testing.T, client *redis.Client) []error {
	t.Helper()
	writes, reads := make([]error, majorityKeys), make([]error, majorityKeys)
	var wait sync.WaitGroup
	for i := range majorityKeys {
		key, _ := old(i)
		wait.Go(func() { writes[i] = client.Set(t.Context(), key, "new", 0).Err() })
		wait.Go(func() { reads[i] = client.Get(t.Context(), key).Err() })
	}
	wait.Wait()
	for i := range majorityKeys {
		require.ErrorContains(t, reads[i], "CLUSTERDOWN ")
		require.ErrorContains(t, reads[i], "nothing was done")
		require.NotEqual(t, outcome.Answered, outcome.Of(writes[i]), "a minority must not write: %v", writes[i])
		require.Regexp(t, "^(CLUSTERDOWN|UNKNOWN) ", writes[i].Error())
	}
	return writes
}

// requireRefusal checks what a cluster without a majority says, once that is noticed.
func requireRefusal(t *testing.T, c *cluster.Cluster, client *redis.Client) {
	t.Helper()
	cluster.Await(t, "the proxy notices that there is no majority", func() bool {
		ready, _ := c.Proxies[0].Ready()
		return !ready
	})
	for _, err := range refused(t, client) {
		require.ErrorContains(t, err, "CLUSTERDOWN ")
	}
	for _, args := range [][]any{{"dbsize"}, {"scan", "0"}, {"keys", "*"}, {"randomkey"}, {"flushall"}, {"mget", "a", "b"}, {"mset", "a", "1", "b", "2"}} {
		err := client.Do(t.Context(), args...).Err()
		require.Error(t, err, args)
		require.Contains(t, err.Error(), "CLUSTERDOWN ", args)
	}
	require.NoError(t, client.Ping(t.Context()).Err(), "the proxy itself lives")
	_, text := c.Proxies[0].Ready()
	require.Contains(t, text, "too few replicas")
	status, code := ringStatus(t, c.Proxies[0].Admin)
	require.Equal(t, 3, code)
	require.Equal(t, map[string]string{"a": "unreachable", "b": "unreachable", "c": "voting"}, status.states())
}

func TestTwoOfThreeNodesKilled(t *testing.T) {
	c, client := startSeeded(t)
	c.Nodes[0].Kill()
	c.Nodes[1].Kill()
	refused(t, client)
	requireRefusal(t, c, client)
}

func TestTwoOfThreeNodesHangAndGoOn(t *testing.T) {
	goOn := []int{1, 2}
	if testing.Short() {
		goOn = []int{1}
	}
	for _, back := range goOn {
		t.Run(fmt.Sprint(back, " go on"), func(t *testing.T) {
			c, client := startSeeded(t)
			c.Nodes[0].Stop()
			c.Nodes[1].Stop()
			writes := refused(t, client)
			requireRefusal(t, c, client)
			for _, m := range c.Nodes[:back] {
				m.Continue()
			}
			for i := range majorityKeys { // every slot works again
				cluster.Await(t, "a majority is enough again", func() bool {
					return client.Set(t.Context(), fmt.Sprint("again:", i), i, 0).Err() == nil
				})
			}
			for i, err := range writes {
				key, value := old(i)
				got, readErr := client.Get(t.Context(), key).Result()
				require.NoError(t, readErr)
				if strings.HasPrefix(err.Error(), "UNKNOWN ") {
					require.Contains(t, []string{value, "new"}, got)
				} else {
					require.Equal(t, value, got, "nothing was done, said the error")
				}
			}
		})
	}
}

// TestNodeThatLostItsStateTakesItsPlaceAgain: by itself, but it counts for nothing before it holds what the others do.
func TestNodeThatLostItsStateTakesItsPlaceAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("a node comes back without its state")
	}
	c, client := startSeeded(t)
	ring := func(words ...string) string {
		stdout, stderr, code := cluster.RunFor(t, 3*time.Minute, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, append([]string{"ring"}, words...)...)
		require.Zero(t, code, "%v: %s", words, stderr)
		return stdout
	}
	ring("pause")
	c.Nodes[2].Kill()
	c.Nodes[2].Start()
	cluster.Await(t, "the ring has a place for its new life", func() bool {
		return strings.Contains(ring("history"), "c lost its state and takes its place again")
	})
	for i := range majorityKeys {
		key, value := old(i)
		require.Equal(t, value, client.Get(t.Context(), key).Val())
		require.NoError(t, client.Append(t.Context(), key, "!").Err())
		require.Equal(t, value+"!", client.Get(t.Context(), key).Val())
	}
	c.Nodes[1].Stop() // a and the one without state are no majority
	requireNoMajority(t, client)
	c.Nodes[1].Continue()

	ring("resume")
	ring("wait")
	c.Nodes[1].Stop() // now they are
	for i := range majorityKeys {
		key, value := old(i)
		cluster.Await(t, "a majority is enough again", func() bool { return client.Get(t.Context(), key).Val() == value+"!" })
	}
	c.Nodes[1].Continue()
}

// requireNoMajority waits until a read is refused.
func requireNoMajority(t *testing.T, client *redis.Client) {
	t.Helper()
	cluster.Await(t, "there is no majority", func() bool {
		err := client.Get(t.Context(), "k:0").Err()
		require.Error(t, err)
		return strings.HasPrefix(err.Error(), "CLUSTERDOWN ")
	})
}

func TestAllNodesRestartedBeginEmpty(t *testing.T) {
	c, client := startSeeded(t)
	for _, m := range c.Nodes {
		m.Kill()
	}
	for _, m := range c.Nodes {
		m.Start()
	}
	for _, m := range c.Nodes {
		m.AwaitReady()
	}
	cluster.Await(t, "the proxy takes up the new cluster", func() bool {
		return client.Set(t.Context(), "k:new", "1", 0).Err() == nil
	})
	require.EqualValues(t, 1, client.DBSize(t.Context()).Val())
	require.ErrorIs(t, client.Get(t.Context(), "k:0").Err(), redis.Nil)
	cluster.Await(t, "all is well", func() bool {
		_, code := ringStatus(t, c.Proxies[0].Admin)
		return code == 0
	})
}

// TestProxyStartsWhileOneNodeIsDown shows that a proxy needs a majority, not all.
func TestProxyStartsWhileOneNodeIsDown(t *testing.T) {
	for name, fault := range map[string]func(*cluster.Member){
		"killed": func(m *cluster.Member) { m.Kill() },
		"hangs":  func(m *cluster.Member) { m.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := startSeeded(t)
			fault(c.Nodes[0])
			c.Proxies[0].Kill()
			c.Proxies[0].Start()
			c.Proxies[0].AwaitReady()
			client := connect(t, c.Proxies[0].Client)
			for i := range majorityKeys {
				key, value := old(i)
				got, err := client.SetArgs(t.Context(), key, "new", redis.SetArgs{Get: true}).Result()
				require.NoError(t, err)
				require.Equal(t, value, got)
				require.Equal(t, "new", client.Get(t.Context(), key).Val())
			}
		})
	}
}
