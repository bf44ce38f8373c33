package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// masterOf returns the address of the node to which clients send what is about a key.
func masterOf(t *testing.T, c *cluster.Cluster, key string) string {
	reader := connect(t, c.Nodes[0].Client).Conn()
	defer reader.Close()
	require.NoError(t, reader.ReadOnly(t.Context()).Err())
	slot := reader.ClusterKeySlot(t.Context(), key).Val()
	all, err := reader.Do(t.Context(), "CLUSTER", "SLOTS").Slice()
	require.NoError(t, err)
	for _, entry := range all {
		slots := entry.([]any) // first, last, and the nodes
		if slots[0].(int64) <= slot && slot <= slots[1].(int64) {
			require.Len(t, slots, 2+3, "each holds all")
			node := slots[2].([]any)
			return fmt.Sprintf("%v:%v", node[0], node[1])
		}
	}
	require.Fail(t, "nobody has the slot")
	return ""
}

var byNearest = regexp.MustCompile(`(?m)^quoll_proxy_reads_total\{by="nearest"\} (\S+)$`)

// nearestReads is how many reads one replica has answered alone.
func nearestReads(t *testing.T, m *cluster.Member) int {
	found := byNearest.FindStringSubmatch(metricsPage(t, m))
	require.NotNil(t, found)
	n, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return int(n)
}

// TestReadOnlyClients: any node answers reads of READONLY clients by itself, shows what is written later soon, and nothing when it is cut off.
func TestReadOnlyClients(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Serving: true, Node: []string{"--cluster-enabled"}})
	cluster.Await(t, "each node knows all", func() bool {
		return masters(t, c.Nodes[0]) == 3 && masters(t, c.Nodes[1]) == 3 && masters(t, c.Nodes[2]) == 3
	})
	writer := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Nodes[0].Client}, MaxRedirects: 8})
	defer writer.Close()
	const keys = 100
	key := func(i int) string { return fmt.Sprint("key:", i) }
	for round := range 2 {
		for i := range keys {
			require.NoError(t, writer.Set(t.Context(), key(i), round, 0).Err())
		}
		for _, m := range c.Nodes {
			reader := connect(t, m.Client).Conn() // READONLY is of a connection
			require.NoError(t, reader.ReadOnly(t.Context()).Err())
			for i := range keys {
				cluster.Await(t, m.Name+" shows what was written", func() bool {
					got, err := reader.Get(t.Context(), key(i)).Int()
					require.NoError(t, err)
					require.LessOrEqual(t, got, round)
					return got == round
				})
			}
			before := nearestReads(t, m)
			for i := range keys {
				require.Equal(t, fmt.Sprint(round), reader.Get(t.Context(), key(i)).Val())
			}
			require.GreaterOrEqual(t, nearestReads(t, m), before+keys/2, "most were answered by %s alone", m.Name)
			require.NoError(t, reader.Close())
		}
	}

	for name, options := range map[string]redis.ClusterOptions{
		"replicas": {ReadOnly: true}, "any": {ReadOnly: true, RouteRandomly: true}, "the nearest": {ReadOnly: true, RouteByLatency: true},
	} {
		options.Addrs = []string{c.Nodes[1].Client}
		library := redis.NewClusterClient(&options)
		defer library.Close()
		require.NoError(t, library.Set(t.Context(), key(1), name, 0).Err())
		cluster.Await(t, "it reads what it has written", func() bool { return library.Get(t.Context(), key(1)).Val() == name })
		if name == "the nearest" {
			continue // which is one of three
		}
		for _, m := range c.Nodes {
			before := nearestReads(t, m)
			cluster.Await(t, m.Name+" is read from", func() bool {
				require.Equal(t, name, library.Get(t.Context(), key(1)).Val())
				return nearestReads(t, m) > before || name == "replicas" && masterOf(t, c, key(1)) == m.Client
			})
		}
	}

	reader := connect(t, c.Nodes[0].Client).Conn()
	defer reader.Close()
	require.NoError(t, reader.ReadOnly(t.Context()).Err())
	require.Equal(t, "1", reader.Get(t.Context(), key(0)).Val())
	c.Kill(c.Nodes[1], c.Nodes[2])
	cluster.Await(t, "a node that hears no other shows nothing", func() bool { return reader.Get(t.Context(), key(0)).Err() != nil })
}

// TestPythonReadsFromReplicas: redis-py finds the replicas, reads from them, and counts what there is once.
func TestPythonReadsFromReplicas(t *testing.T) {
	t.Parallel()
	python := needsClusterPython(t)
	c := cluster.Start(t, cluster.Config{Nodes: 3, Serving: true, Node: []string{"--cluster-enabled"}})
	cluster.Await(t, "each node knows all", func() bool {
		return masters(t, c.Nodes[0]) == 3 && masters(t, c.Nodes[1]) == 3 && masters(t, c.Nodes[2]) == 3
	})
	script := fmt.Sprintf(`
import time
from redis.cluster import RedisCluster
r = RedisCluster(host="127.0.0.1", port=%s, read_from_replicas=True)
for i in range(100):
    assert r.set("py:%%d" %% i, i)
late = time.time() + 20
for _ in range(10): # a node asks the others the first time
    while [r.get("py:%%d" %% i) for i in range(100)] != [b"%%d" %% i for i in range(100)]:
        assert time.time() < late
assert all(len(nodes) == 3 for nodes in r.nodes_manager.slots_cache.values())
assert r.delete(*["py:%%d" %% i for i in range(100)]) == 100
print("fine")
`, portOf(t, c.Nodes[2].Client))
	require.Equal(t, "fine\n", output(t, python, "-c", script))
	for _, m := range c.Nodes {
		require.NotZero(t, nearestReads(t, m), "%s is read from", m.Name)
	}
}
