//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// movedBy is how often a node has sent clients elsewhere.
func movedBy(t *testing.T, m *cluster.Member) (n int) {
	_, after, _ := strings.Cut(connect(t, m.Client).Info(t.Context(), "errorstats").Val(), "errorstat_MOVED:count=")
	_, _ = fmt.Sscan(after, &n)
	return n
}

// TestNodesServeClientsOfARedisCluster: each command goes to the home of its slot, any client may use any node, and clients go on when a node dies and comes back, without a proxy anywhere.
func TestNodesServeClientsOfARedisCluster(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Serving: true, Node: []string{"--cluster-enabled"}})
	cluster.Await(t, "each node knows all", func() bool {
		for _, m := range c.Nodes {
			if masters(t, m) != 3 {
				return false
			}
		}
		return true
	})
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Nodes[0].Client}, MaxRedirects: 8})
	defer client.Close()
	const keys = 300
	key := func(i int) string { return fmt.Sprint("key:", i) }
	for i := range keys {
		require.NoError(t, client.Set(t.Context(), key(i), i, 0).Err())
	}
	for _, m := range c.Nodes {
		require.Contains(t, connect(t, m.Client).Info(t.Context(), "commandstats").Val(), "cmdstat_set:calls=", "%s was used", m.Name)
		require.Zero(t, movedBy(t, m), "the client knows who has which slot")
	}
	plain := connect(t, c.Nodes[1].Client) // knows of no cluster
	cluster.Await(t, "who does not send a command to its home is told", func() bool {
		for i := range keys {
			if err := plain.Get(t.Context(), key(i)).Err(); err != nil {
				require.True(t, strings.HasPrefix(err.Error(), "MOVED "), err)
				return true
			}
		}
		return false
	})
	require.NoError(t, plain.MSet(t.Context(), "several", "1", "slots", "2", "at", "3", "once", "4").Err())

	c.Nodes[2].Kill()
	cluster.Await(t, "the others have its slots", func() bool { return masters(t, c.Nodes[0]) == 2 && masters(t, c.Nodes[1]) == 2 })
	client.ReloadState(t.Context()) // it does so by itself every ten seconds
	for i := range keys {
		require.Eventually(t, func() bool {
			got, err := client.Get(t.Context(), key(i)).Int()
			return err == nil && got == i
		}, 10*time.Second, time.Millisecond)
	}
	c.Nodes[2].Start()
	cluster.Await(t, "it has its slots again", func() bool { return masters(t, c.Nodes[0]) == 3 })
}

// TestNodesRestartUnderClientsOfARedisCluster: one node after the other is restarted in order, and clients that ask again see no errors.
func TestNodesRestartUnderClientsOfARedisCluster(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Serving: true, Engine: "pebble", Node: []string{"--cluster-enabled"}})
	cluster.Await(t, "they know each other", func() bool { return masters(t, c.Nodes[0]) == 3 && masters(t, c.Nodes[2]) == 3 })
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Nodes[0].Client, c.Nodes[1].Client, c.Nodes[2].Client}, MaxRedirects: 16, MaxRetryBackoff: time.Second})
	defer client.Close()
	var done atomic.Bool
	var writers sync.WaitGroup
	var written [4]int
	for w := range written {
		writers.Go(func() {
			for i := 0; !done.Load(); i++ {
				if err := client.Set(t.Context(), fmt.Sprintf("w%d:%d", w, i%100), i, 0).Err(); err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				written[w]++
			}
		})
	}
	for _, m := range c.Nodes {
		m.Terminate()
		m.Start()
		m.AwaitReady()
		cluster.Await(t, "it has its slots again", func() bool {
			return masters(t, c.Nodes[0]) == 3 && masters(t, c.Nodes[1]) == 3 && masters(t, c.Nodes[2]) == 3
		})
	}
	done.Store(true)
	writers.Wait()
	for w, n := range written {
		require.Greater(t, n, 3)
		for i := max(0, n-100); i < n; i++ {
			got, err := client.Get(t.Context(), fmt.Sprintf("w%d:%d", w, i%100)).Int()
			require.NoError(t, err)
			require.Equal(t, i, got)
		}
	}
}

// TestNodesServeClientsWithTLS, and with passwords and users by certificates, as proxies do; what clients send to any node reaches the home at another one.
func TestNodesServeClientsWithTLS(t *testing.T) {
	t.Parallel()
	c, dir := startSecured(t, cluster.Config{Serving: true, Node: []string{"--tls-client-auth", "required", "--tls-auth-clients-user", "CN", "--password", "sesame"}})
	for _, m := range c.Nodes {
		stranger := secureClient(m.Secure, clientTLS(t, dir, ""))
		defer stranger.Close()
		require.Error(t, stranger.Ping(t.Context()).Err(), "it has no certificate")
		var client *redis.Client
		cluster.Await(t, "alice, who was deleted at the node before, is gone here, too", func() bool {
			client = secureClient(m.Secure, clientTLS(t, dir, "alice"))
			if err := client.Set(t.Context(), "k", 1, 0).Err(); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
				_ = client.Close()
				return false
			}
			return true
		})
		defer client.Close()
		conn := client.Conn()
		defer conn.Close()
		require.NoError(t, conn.Auth(t.Context(), "sesame").Err())
		for i := range 100 {
			require.NoError(t, conn.Incr(t.Context(), fmt.Sprint("n", i)).Err())
		}
		require.Equal(t, fmt.Sprint(slices.Index(c.Nodes, m)+1), conn.Get(t.Context(), "n7").Val())
		require.NoError(t, conn.Do(t.Context(), "ACL", "SETUSER", "alice", "on", "~n*", "+get").Err())
		alice := secureClient(m.Secure, clientTLS(t, dir, "alice"))
		defer alice.Close()
		require.NoError(t, alice.Get(t.Context(), "n7").Err())
		require.ErrorContains(t, alice.Set(t.Context(), "n7", 1, 0).Err(), "NOPERM")
		require.NoError(t, conn.Do(t.Context(), "ACL", "DELUSER", "alice").Err())
	}
}
