//go:build unix

package e2e

import (
	"context"
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

// startReplicaPorts starts three nodes with replica ports, and waits until each shows all six.
func startReplicaPorts(t *testing.T, cfg cluster.Config) *cluster.Cluster {
	cfg.Nodes, cfg.Serving, cfg.ReplicaPorts, cfg.Node = 3, true, true, append(cfg.Node, "--cluster-enabled")
	c := cluster.Start(t, cfg)
	awaitPaired(t, c.Nodes, 3)
	return c
}

// awaitPaired waits until each of some nodes shows so many masters, and as many replicas.
func awaitPaired(t *testing.T, nodes []*cluster.Member, n int) {
	cluster.Await(t, fmt.Sprintf("each node shows %d masters, and as many replicas", n), func() bool {
		for _, m := range nodes {
			text, err := connect(t, m.Client).ClusterNodes(t.Context()).Result()
			if err != nil || masters(t, m) != n || strings.Count(text, "slave ") != n {
				return false
			}
		}
		return true
	})
}

// connectedTo is how many connections there are to one of a node's ports of clients whose last command was a certain one.
func connectedTo(t *testing.T, m *cluster.Member, port, command string) (n int) {
	for _, line := range strings.Split(connect(t, m.Client).ClientList(t.Context()).Val(), "\n") {
		if strings.Contains(line, " laddr="+port+" ") && strings.Contains(line, " cmd="+command+" ") {
			n++
		}
	}
	return n
}

// TestReplicaPorts: go-redis finds them over any connection, and reads from them; writes go to the masters, and what is read is right soon.
func TestReplicaPorts(t *testing.T) {
	t.Parallel()
	c := startReplicaPorts(t, cluster.Config{})
	const keys = 100
	key := func(i int) string { return fmt.Sprint("key:", i) }
	for _, library := range []struct {
		name    string
		options redis.ClusterOptions
	}{
		{"replicas", redis.ClusterOptions{ReadOnly: true}}, {"any", redis.ClusterOptions{RouteRandomly: true}}, {"the nearest", redis.ClusterOptions{RouteByLatency: true}},
	} {
		name, options := library.name, library.options
		options.Addrs, options.MaxRedirects = []string{c.Nodes[1].Client}, 8
		library := redis.NewClusterClient(&options)
		defer library.Close()
		var slaves atomic.Int32
		require.NoError(t, library.ForEachSlave(t.Context(), func(ctx context.Context, replica *redis.Client) error {
			slaves.Add(1)
			return replica.Ping(ctx).Err()
		}))
		require.EqualValues(t, 3, slaves.Load())
		for i := range keys {
			require.NoError(t, library.Set(t.Context(), key(i), name, 0).Err())
		}
		for i := range 3 * keys { // a node asks the others when it meets a version for the first time
			cluster.Await(t, "what was written is read", func() bool {
				got, err := library.Get(t.Context(), key(i%keys)).Result()
				require.True(t, err == nil || errors.Is(err, redis.Nil), err)
				return got == name
			})
		}
		for _, m := range c.Nodes {
			require.Zero(t, connectedTo(t, m, m.Replica, "set"), "nothing was written at the replica port of %s", m.Name)
			if name == "replicas" {
				require.NotZero(t, connectedTo(t, m, m.Replica, "get"), "%s is read from", m.Name)
				require.Zero(t, connectedTo(t, m, m.Client, "get"), "and not where it is a master")
			}
			require.Zero(t, movedBy(t, m), "the client knows who has which slot")
		}
	}
	for _, m := range c.Nodes {
		require.Greater(t, nearestReads(t, m), keys/10, "%s answers by itself", m.Name)
	}
	plain := connect(t, c.Nodes[0].Replica)
	require.ErrorContains(t, plain.Set(t.Context(), key(0), 1, 0).Err(), "MOVED ")
	require.ErrorContains(t, plain.FlushAll(t.Context()).Err(), "READONLY ")
	require.Contains(t, plain.Info(t.Context(), "replication").Val(), "role:slave")
}

// useReplicas has clients read keys, and write others, until over is called. It counts how often they have done so; what fails fails the test.
func useReplicas(t *testing.T, client *redis.ClusterClient, keys int) (done *atomic.Int64, over func()) {
	var end atomic.Bool
	var clients sync.WaitGroup
	done = new(atomic.Int64)
	for r := range 4 {
		clients.Go(func() {
			for i := r; !end.Load(); i++ {
				if _, err := client.Get(t.Context(), fmt.Sprint("k", i%keys)).Result(); err != nil && !errors.Is(err, redis.Nil) {
					t.Errorf("reader %d: %v", r, err)
					return
				}
				if err := client.Set(t.Context(), fmt.Sprintf("w%d:%d", r, i%keys), i, 0).Err(); err != nil {
					t.Errorf("writer %d: %v", r, err)
					return
				}
				done.Add(1)
			}
		})
	}
	return done, func() {
		end.Store(true)
		clients.Wait()
	}
}

// awaitMore waits until clients have done some more.
func awaitMore(t *testing.T, done *atomic.Int64) {
	before := done.Load()
	cluster.Await(t, "clients go on", func() bool { return done.Load() > before+100 || t.Failed() })
}

// TestReplicaPortsWhileNodesDie: clients that read from replicas go on when a node is killed, and when nodes are restarted in order they see nothing of it.
func TestReplicaPortsWhileNodesDie(t *testing.T) {
	t.Parallel()
	c := startReplicaPorts(t, cluster.Config{Engine: "pebble"})
	var addrs []string
	for _, m := range c.Nodes {
		addrs = append(addrs, m.Client, m.Replica)
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, RouteRandomly: true, MaxRedirects: 16, MaxRetryBackoff: time.Second})
	defer client.Close()
	const keys = 100
	for i := range keys {
		require.NoError(t, client.Set(t.Context(), fmt.Sprint("k", i), i, 0).Err())
	}
	read, over := useReplicas(t, client, keys)
	for _, m := range c.Nodes {
		m.Terminate()
		m.Start()
		m.AwaitReady()
		awaitPaired(t, c.Nodes, 3)
		awaitMore(t, read)
	}
	over()

	c.Nodes[2].Kill()
	awaitPaired(t, c.Nodes[:2], 2)
	client.ReloadState(t.Context()) // it does so by itself every ten seconds
	for i := range keys {
		require.Eventually(t, func() bool {
			got, err := client.Get(t.Context(), fmt.Sprint("k", i)).Int()
			return err == nil && got == i
		}, 10*time.Second, time.Millisecond)
	}
	c.Nodes[2].Start()
	awaitPaired(t, c.Nodes, 3)
}

// TestReplicaPortsWhileTheRingMoves: a fourth node comes, none is a replica of all that another one leads any more, and goes again: clients see nothing of it.
func TestReplicaPortsWhileTheRingMoves(t *testing.T) {
	t.Parallel()
	c := startReplicaPorts(t, cluster.Config{})
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Nodes[0].Client, c.Nodes[1].Replica}, RouteRandomly: true, MaxRedirects: 16, MaxRetryBackoff: time.Second})
	defer client.Close()
	const keys = 100
	for i := range keys {
		require.NoError(t, client.Set(t.Context(), fmt.Sprint("k", i), i, 0).Err())
	}
	ring := func(args ...string) bool {
		_, _, code := cluster.RunFor(t, 3*time.Minute, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, append([]string{"ring"}, args...)...)
		return code == 0
	}
	done, over := useReplicas(t, client, keys)
	listen, replica := cluster.FreeAddress(t), cluster.FreeAddress(t)
	d := c.Join("d", "--listen", listen, "--replica-listen", replica, "--cluster-enabled")
	d.Client, d.Replica = listen, replica
	d.Start()
	cluster.Await(t, "d can be planned", func() bool { return ring("plan", "join", "d") })
	require.True(t, ring("commit"))
	require.True(t, ring("wait", "--timeout", "2m"))
	cluster.Await(t, "there are four masters, and no replicas", func() bool {
		text := connect(t, c.Nodes[0].Client).ClusterNodes(t.Context()).Val()
		return masters(t, c.Nodes[0]) == 4 && !strings.Contains(text, "slave ")
	})
	awaitMore(t, done)
	require.Contains(t, connect(t, replica).ClusterNodes(t.Context()).Val(), "myself,slave ", "to who has come by it, it is one")

	require.True(t, ring("plan", "leave", "d"))
	require.True(t, ring("commit"))
	require.True(t, ring("wait", "--timeout", "2m"))
	awaitPaired(t, c.Nodes[:3], 3)
	awaitMore(t, done)
	over()
	for i := range keys {
		require.Equal(t, fmt.Sprint(i), client.Get(t.Context(), fmt.Sprint("k", i)).Val())
	}
}

// TestPythonReadsFromReplicaPorts: redis-py finds them, reads from them, and writes to the masters.
func TestPythonReadsFromReplicaPorts(t *testing.T) {
	t.Parallel()
	python := needsClusterPython(t)
	c := startReplicaPorts(t, cluster.Config{})
	script := fmt.Sprintf(`
import time
from redis.cluster import RedisCluster
r = RedisCluster(host="127.0.0.1", port=%s, read_from_replicas=True)
assert len(r.get_primaries()) == 3 and len(r.get_replicas()) == 3, r.get_nodes()
assert all(len(nodes) == 2 for nodes in r.nodes_manager.slots_cache.values())
for i in range(100):
    assert r.set("py:%%d" %% i, i)
late = time.time() + 20
for _ in range(10):
    while [r.get("py:%%d" %% i) for i in range(100)] != [b"%%d" %% i for i in range(100)]:
        assert time.time() < late
used = {(c["laddr"], c["cmd"]) for node in r.get_primaries() for c in r.client_list(target_nodes=node)}
assert r.delete(*["py:%%d" %% i for i in range(100)]) == 100
for laddr, cmd in sorted(used):
    print(laddr, cmd)
`, portOf(t, c.Nodes[2].Client))
	used := output(t, python, "-c", script)
	for _, m := range c.Nodes {
		require.Contains(t, used, m.Replica+" get\n", "%s is read from", m.Name)
		require.NotContains(t, used, m.Replica+" set\n")
		require.NotZero(t, nearestReads(t, m))
	}
}

// TestReplicaPortsWithTLS, and with a password, as the other ports.
func TestReplicaPortsWithTLS(t *testing.T) {
	t.Parallel()
	c, dir := startSecured(t, cluster.Config{Serving: true, ReplicaPorts: true, Node: []string{"--cluster-enabled", "--tls-client-auth", "required", "--password", "sesame", "--max-clients", "20"}})
	for _, m := range c.Nodes {
		stranger := secureClient(m.SecureReplica, clientTLS(t, dir, ""))
		defer stranger.Close()
		require.Error(t, stranger.Ping(t.Context()).Err(), "it has no certificate")
		client := secureClient(m.SecureReplica, clientTLS(t, dir, "alice"))
		defer client.Close()
		conn := client.Conn()
		defer conn.Close()
		require.ErrorContains(t, conn.Get(t.Context(), "k").Err(), "NOAUTH")
		require.NoError(t, conn.Auth(t.Context(), "sesame").Err())
		require.Equal(t, redis.Nil, conn.Get(t.Context(), "k").Err())
		require.ErrorContains(t, conn.Set(t.Context(), "k", 1, 0).Err(), "MOVED ")
		require.Equal(t, "slave", conn.Do(t.Context(), "ROLE").Val().([]any)[0])
	}
}
