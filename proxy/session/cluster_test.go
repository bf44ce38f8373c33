package session

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/topology"
	"github.com/quolldb/quoll/ring"
)

// threeProxies are three, of which the last one does not answer.
type threeProxies struct{}

func (threeProxies) Members(net.Addr) []topology.Member {
	return []topology.Member{
		{ID: strings.Repeat("a", 40), Host: "10.0.0.1", Port: 6379, Self: true, Alive: true, Slots: []topology.Slots{{First: 0, End: 8192}}},
		{ID: strings.Repeat("b", 40), Host: "10.0.0.2", Port: 6380, Alive: true, Slots: []topology.Slots{{First: 8192, End: ring.Slots}}},
		{ID: strings.Repeat("c", 40), Host: "::1", Port: 6381},
	}
}

// Elsewhere implements Topology: clients are sent to no other proxy.
func (threeProxies) Elsewhere(uint16) (string, bool) { return "", false }

// Holds implements Topology: proxies hold nothing.
func (threeProxies) Holds(uint16) bool { return false }

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

// TestClusterCommands: what clients of a Redis Cluster are told, in the shapes of redis-server 7.0.15.
func TestClusterCommands(t *testing.T) {
	_, addr := startServer(t, Config{Topology: threeProxies{}}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	a, b, x := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	for line, want := range map[string]string{
		"CLUSTER MYID": bulk(a), "CLUSTER KEYSLOT foo": ":12182\r\n", "CLUSTER LINKS": "*0\r\n", "READONLY": "+OK\r\n", "READWRITE": "+OK\r\n", "ASKING": "+OK\r\n",
		"CLUSTER SLOTS": "*2\r\n*3\r\n:0\r\n:8191\r\n*4\r\n$8\r\n10.0.0.1\r\n:6379\r\n" + bulk(a) + "*0\r\n*3\r\n:8192\r\n:16383\r\n*4\r\n$8\r\n10.0.0.2\r\n:6380\r\n" + bulk(b) + "*0\r\n",
		"CLUSTER NODES": bulk(a + " 10.0.0.1:6379@16379 myself,master - 0 0 0 connected 0-8191\n" + b + " 10.0.0.2:6380@16380 master - 0 0 0 connected 8192-16383\n" +
			x + " [::1]:6381@16381 master,fail - 0 0 0 disconnected\n"),
		"CLUSTER REPLICAS " + b: "*0\r\n", "CLUSTER SLAVES " + b: "*0\r\n", "CLUSTER REPLICAS nobody": "-ERR Unknown node nobody\r\n",
		"CLUSTER COUNT-FAILURE-REPORTS " + b: ":0\r\n", "CLUSTER COUNT-FAILURE-REPORTS nobody": "-ERR Unknown node nobody\r\n",
		"CLUSTER COUNTKEYSINSLOT 16384": "-ERR Invalid slot\r\n", "CLUSTER COUNTKEYSINSLOT x": "-ERR value is not an integer or out of range\r\n",
		"CLUSTER GETKEYSINSLOT 0 -1": "-ERR Invalid slot or number of keys\r\n",
		"CLUSTER FLUSHSLOTS":         "-ERR the proxies are given with --cluster-proxies, and the nodes are changed with quoll ring; nothing was done\r\n",
		"CLUSTER SLOTS x":            "-ERR wrong number of arguments for 'cluster|slots' command\r\n",
		"CLUSTER NONSENSE":           "-ERR unknown subcommand 'NONSENSE'. Try CLUSTER HELP.\r\n",
	} {
		require.Equal(t, want, c.Do(line), line)
	}
	shards := c.Do("CLUSTER SHARDS")
	require.Contains(t, shards, "$2\r\nid\r\n"+bulk(x)+"$4\r\nport\r\n:6381\r\n$2\r\nip\r\n$3\r\n::1\r\n$8\r\nendpoint\r\n$3\r\n::1\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\nhealth\r\n$4\r\nfail\r\n")
	require.True(t, strings.HasPrefix(shards, "*3\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:8191\r\n$5\r\nnodes\r\n*1\r\n*14\r\n"), shards)
	require.Contains(t, c.Do("CLUSTER INFO"), "cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:16384\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:0\r\ncluster_known_nodes:3\r\ncluster_size:2\r\n")
	require.Contains(t, c.Do("INFO"), "cluster_enabled:1")
	require.Contains(t, c.Do("INFO"), "redis_mode:cluster")
	require.Contains(t, c.Do("HELLO 3"), "$4\r\nmode\r\n$7\r\ncluster\r\n")
	require.True(t, strings.HasPrefix(c.Do("CLUSTER SHARDS"), "*3\r\n%2\r\n$5\r\nslots\r\n"))
}

// replicated are three nodes, of which each holds all.
type replicated struct{ threeProxies }

func (replicated) Members(net.Addr) []topology.Member {
	all := threeProxies{}.Members(nil)
	all[0].Slots[0].Replicas, all[1].Slots[0].Replicas = []int16{1, 2}, []int16{0}
	return all
}

// TestReplicasAreShownToWhoReadsFromThem, and to nobody else.
func TestReplicasAreShownToWhoReadsFromThem(t *testing.T) {
	_, addr := startServer(t, Config{Topology: replicated{}}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	server := func(i int) string {
		m := threeProxies{}.Members(nil)[i]
		return "*4\r\n" + bulk(m.Host) + fmt.Sprintf(":%d\r\n", m.Port) + bulk(m.ID) + "*0\r\n"
	}
	masters := "*2\r\n*3\r\n:0\r\n:8191\r\n" + server(0) + "*3\r\n:8192\r\n:16383\r\n" + server(1)
	require.Equal(t, masters, c.Do("CLUSTER SLOTS"))
	shards := c.Do("CLUSTER SHARDS")
	require.NotContains(t, shards, "replica\r\n")

	c.Do("READONLY")
	require.Equal(t, "*2\r\n*5\r\n:0\r\n:8191\r\n"+server(0)+server(1)+server(2)+"*4\r\n:8192\r\n:16383\r\n"+server(1)+server(0), c.Do("CLUSTER SLOTS"))
	all := c.Do("CLUSTER SHARDS")
	require.Equal(t, 3, strings.Count(all, "$4\r\nrole\r\n$6\r\nmaster\r\n"))
	require.Equal(t, 3, strings.Count(all, "$4\r\nrole\r\n$7\r\nreplica\r\n"))
	require.Equal(t, 2, strings.Count(all, bulk(strings.Repeat("b", 40))), "it is a master and a replica")

	c.Do("READWRITE")
	require.Equal(t, masters, c.Do("CLUSTER SLOTS"))
	require.Equal(t, shards, c.Do("CLUSTER SHARDS"))
}

// TestWithoutAClusterItsCommandsAreRefused as by a redis-server with cluster support disabled.
func TestWithoutAClusterItsCommandsAreRefused(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	for _, line := range []string{"CLUSTER SLOTS", "CLUSTER NODES", "CLUSTER INFO", "CLUSTER MEET 1 2", "READONLY", "READWRITE", "ASKING", "CLUSTER COUNTKEYSINSLOT 1"} {
		require.Equal(t, "-ERR This instance has cluster support disabled\r\n", c.Do(line), line)
	}
}
