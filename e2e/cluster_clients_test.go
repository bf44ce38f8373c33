//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// startMasters starts a cluster whose proxies are the masters of a Redis Cluster to their clients.
func startMasters(t *testing.T) *cluster.Cluster {
	c := cluster.New(t, cluster.Config{Nodes: 3, Proxies: 3})
	var all []string
	for _, p := range c.Proxies {
		all = append(all, p.Client)
	}
	for _, p := range c.Proxies {
		p.Args = append(p.Args, "--cluster-enabled", "--cluster-proxies", strings.Join(all, ","), "--cluster-announce", p.Client)
	}
	c.StartAll()
	for _, p := range c.Proxies {
		p.Start()
	}
	for _, p := range c.Proxies {
		p.AwaitReady()
	}
	return c
}

// masters is how many masters with slots a proxy tells of.
func masters(t *testing.T, p *cluster.Member) (n int) {
	_, after, found := strings.Cut(connect(t, p.Client).ClusterInfo(t.Context()).Val(), "cluster_size:")
	require.True(t, found)
	_, err := fmt.Sscan(after, &n)
	require.NoError(t, err)
	return n
}

// TestClientsOfARedisCluster: they use all proxies, and go on when one of them dies.
func TestClientsOfARedisCluster(t *testing.T) {
	t.Parallel()
	c := startMasters(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Proxies[0].Client}})
	defer client.Close()
	const keys = 300
	for i := range keys {
		require.NoError(t, client.Set(t.Context(), fmt.Sprint("key:", i), i, 0).Err())
	}
	for _, p := range c.Proxies {
		sets := connect(t, p.Client).Info(t.Context(), "commandstats").Val()
		require.Contains(t, sets, "cmdstat_set:calls=", "%s was used", p.Name)
	}
	require.EqualValues(t, keys, client.DBSize(t.Context()).Val()/3, "each master says how many keys the whole cluster has")
	slot := client.ClusterKeySlot(t.Context(), "key:7").Val()
	require.Equal(t, []string{"key:7"}, client.ClusterGetKeysInSlot(t.Context(), int(slot), 10).Val())
	require.EqualValues(t, 1, client.ClusterCountKeysInSlot(t.Context(), int(slot)).Val())

	c.Proxies[1].Kill()
	cluster.Await(t, "the others have its slots", func() bool {
		return masters(t, c.Proxies[0]) == 2 && masters(t, c.Proxies[2]) == 2
	})
	client.ReloadState(t.Context())
	for i := range keys {
		var value int
		require.Eventually(t, func() (ok bool) { // what was on its way to the dead one fails
			got, err := client.Get(t.Context(), fmt.Sprint("key:", i)).Int()
			value = got
			return err == nil
		}, 10*time.Second, time.Millisecond)
		require.Equal(t, i, value)
	}
	c.Proxies[1].Start()
	c.Proxies[1].AwaitReady()
	cluster.Await(t, "it has its slots again", func() bool { return masters(t, c.Proxies[0]) == 3 })
}

// needsClusterPython returns Python with redis-py's client of a Redis Cluster.
func needsClusterPython(t *testing.T) string {
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil || exec.Command(python, "-c", "from redis.cluster import RedisCluster").Run() != nil {
		t.Skip("redis-py with RedisCluster (Debian: python3-redis) is not installed")
	}
	return python
}

// TestOtherClientsOfARedisCluster: redis-cli -c, and redis-py.
func TestOtherClientsOfARedisCluster(t *testing.T) {
	t.Parallel()
	c := startMasters(t)
	cli := needs(t, "redis-cli")
	port := portOf(t, c.Proxies[1].Client)
	require.Equal(t, "OK\n", output(t, cli, "-c", "-p", port, "set", "{a}x", "1"))
	require.Equal(t, "1\n", output(t, cli, "-c", "-p", port, "get", "{a}x"))
	out, err := exec.Command(cli, "--cluster", "check", c.Proxies[0].Client).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "[OK] All 16384 slots covered.")

	python := needsClusterPython(t)
	script := fmt.Sprintf(`
from redis.cluster import RedisCluster
r = RedisCluster(host="127.0.0.1", port=%s)
for i in range(100):
    r.set("py:%%d" %% i, i)
assert [int(r.get("py:%%d" %% i)) for i in range(100)] == list(range(100))
assert len(r.get_primaries()) == 3, r.get_primaries()
p = r.pipeline()
for i in range(100):
    p.incr("py:%%d" %% i)
assert p.execute() == list(range(1, 101))
print("fine")
`, port)
	require.Equal(t, "fine\n", output(t, python, "-c", script))
}

// TestDevIsARedisCluster to clients of such, of one master.
func TestDevIsARedisCluster(t *testing.T) {
	t.Parallel()
	address := cluster.FreeAddress(t)
	dev := cluster.NewProcess(t, "quoll dev", "dev", "--listen", address, "--cluster-enabled")
	dev.Start()
	dev.AwaitLog("Quoll runs")
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{address}})
	defer client.Close()
	for i := range 10 {
		require.NoError(t, client.Set(t.Context(), fmt.Sprint("key:", i), i, 0).Err())
	}
	shards, err := client.ClusterShards(t.Context()).Result()
	require.NoError(t, err)
	require.Len(t, shards, 1)
	require.Equal(t, []redis.SlotRange{{Start: 0, End: 16383}}, shards[0].Slots)
	require.Equal(t, address, fmt.Sprintf("%s:%d", shards[0].Nodes[0].Endpoint, shards[0].Nodes[0].Port))
}
