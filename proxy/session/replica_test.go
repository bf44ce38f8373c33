package session

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/proxy/topology"
	"github.com/quolldb/quoll/ring"
)

// atReplica serves clients by a replica port.
type atReplica struct{ *served }

func (s atReplica) Serve(listener net.Listener) error { return s.ServeReplica(listener, nil) }

// startReplica serves clients of a node by its replica port.
func startReplica(t *testing.T, cluster route.Cluster) *proxytest.Client {
	nodes := pairedNodes{}
	s := newServer(Config{Topology: nodes, ReplicaTopology: pairedPort{nodes}}, cluster)
	return proxytest.Dial(t, proxytest.ByFront.Serve(t, atReplica{s}, front.ErrServerClosed))
}

// pairedNodes are two nodes with replica ports, each of which is the replica of the other one. The first is asked, and is the home of the slots before 8192.
type pairedNodes struct{ anotherNode }

func (pairedNodes) Members(net.Addr) []topology.Member {
	all := threeProxies{}.Members(nil)[:2]
	all[0].Replicas, all[1].Replicas = []int16{3}, []int16{2}
	return append(all,
		topology.Member{ID: strings.Repeat("d", 40), Host: "10.0.0.1", Port: 6390, Alive: true, Master: all[1].ID},
		topology.Member{ID: strings.Repeat("e", 40), Host: "10.0.0.2", Port: 6391, Alive: true, Master: all[0].ID})
}

// pairedPort is the replica port of the first one.
type pairedPort struct{ pairedNodes }

func (p pairedPort) Members(net.Addr) []topology.Member {
	all := p.pairedNodes.Members(nil)
	all[0].Self, all[2].Self = false, true
	return all
}

func (pairedPort) Elsewhere(slot uint16) (string, bool) {
	if slot < 8192 {
		return "10.0.0.1:6379", true
	}
	return "10.0.0.2:6380", true
}

// TestReplicaPortsAreShownToEverybody as nodes of their own.
func TestReplicaPortsAreShownToEverybody(t *testing.T) {
	_, addr := startServer(t, Config{Topology: pairedNodes{}}, proxytest.NewCluster())
	client, port := proxytest.Dial(t, addr), startReplica(t, proxytest.NewCluster())
	all := pairedNodes{}.Members(nil)
	server := func(i int) string {
		return "*4\r\n" + bulk(all[i].Host) + fmt.Sprintf(":%d\r\n", all[i].Port) + bulk(all[i].ID) + "*0\r\n"
	}
	line := func(i int, flags, slots string) string {
		master := all[i].Master
		if master == "" {
			master = "-"
		}
		return fmt.Sprintf("%s %s:%d@%d %s %s 0 0 0 connected%s", all[i].ID, all[i].Host, all[i].Port, all[i].Port+10000, flags, master, slots)
	}
	slots := "*2\r\n*4\r\n:0\r\n:8191\r\n" + server(0) + server(3) + "*4\r\n:8192\r\n:16383\r\n" + server(1) + server(2)
	for _, c := range []*proxytest.Client{client, port} {
		for _, mode := range []string{"READWRITE", "READONLY"} {
			require.Equal(t, "+OK\r\n", c.Do(mode))
			require.Equal(t, slots, c.Do("CLUSTER SLOTS"))
			shards := c.Do("CLUSTER SHARDS")
			require.True(t, strings.HasPrefix(shards, "*2\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:8191\r\n$5\r\nnodes\r\n*2\r\n*14\r\n"), shards)
			require.Equal(t, 2, strings.Count(shards, "$4\r\nrole\r\n$6\r\nmaster\r\n"))
			require.Equal(t, 2, strings.Count(shards, "$4\r\nrole\r\n$7\r\nreplica\r\n"))
			for _, m := range all {
				require.Equal(t, 1, strings.Count(shards, bulk(m.ID)), "it is shown once")
			}
		}
		require.Contains(t, c.Do("CLUSTER INFO"), "cluster_known_nodes:4\r\ncluster_size:2\r\n")
		for _, name := range []string{"REPLICAS", "SLAVES"} {
			require.Equal(t, "*1\r\n"+bulk(line(3, "slave", "")), c.Do("CLUSTER "+name+" "+all[0].ID))
			require.Equal(t, "-ERR The specified node is not a master\r\n", c.Do("CLUSTER "+name+" "+all[3].ID))
		}
	}
	require.Equal(t, bulk(line(0, "myself,master", " 0-8191")+"\n"+line(1, "master", " 8192-16383")+"\n"+line(2, "slave", "")+"\n"+line(3, "slave", "")+"\n"), client.Do("CLUSTER NODES"))
	require.Equal(t, bulk(line(0, "master", " 0-8191")+"\n"+line(1, "master", " 8192-16383")+"\n"+line(2, "myself,slave", "")+"\n"+line(3, "slave", "")+"\n"), port.Do("CLUSTER NODES"))
}

// TestAReplicaPortSpeaksAsAReplica: who it is, and whose.
func TestAReplicaPortSpeaksAsAReplica(t *testing.T) {
	_, addr := startServer(t, Config{Topology: pairedNodes{}}, proxytest.NewCluster())
	client, port := proxytest.Dial(t, addr), startReplica(t, proxytest.NewCluster())
	require.Equal(t, bulk(strings.Repeat("a", 40)), client.Do("CLUSTER MYID"))
	require.Equal(t, bulk(strings.Repeat("d", 40)), port.Do("CLUSTER MYID"))
	require.Equal(t, "*3\r\n$6\r\nmaster\r\n:0\r\n*1\r\n*3\r\n$8\r\n10.0.0.2\r\n$4\r\n6391\r\n$1\r\n0\r\n", client.Do("ROLE"))
	require.Equal(t, "*5\r\n$5\r\nslave\r\n$8\r\n10.0.0.2\r\n:6380\r\n$9\r\nconnected\r\n:0\r\n", port.Do("ROLE"))
	require.Contains(t, client.Do("INFO replication"), "role:master\r\nconnected_slaves:1\r\nslave0:ip=10.0.0.2,port=6391,state=online,offset=0,lag=0\r\nmaster_repl_offset:0\r\n")
	require.Contains(t, port.Do("INFO replication"), "role:slave\r\nmaster_host:10.0.0.2\r\nmaster_port:6380\r\nmaster_link_status:up\r\n")
	require.Contains(t, client.Do("HELLO 3"), "$4\r\nrole\r\n$6\r\nmaster\r\n")
	require.Contains(t, port.Do("HELLO 3"), "$4\r\nrole\r\n$7\r\nreplica\r\n")

	_, alone := startServer(t, Config{}, proxytest.NewCluster())
	require.Equal(t, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n", proxytest.Dial(t, alone).Do("ROLE"))
}

// TestAReplicaPortReads, and sends what else there is to a master, as a replica of Redis does.
func TestAReplicaPortReads(t *testing.T) {
	c := startReplica(t, proxytest.NewCluster())
	moved := func(key string) string {
		slot := ring.SlotOf([]byte(key))
		address, _ := pairedPort{}.Elsewhere(slot)
		return fmt.Sprintf("-MOVED %d %s\r\n", slot, address)
	}
	const first, second = "b", "a" // one of each master
	require.NotEqual(t, moved(first)[12:], moved(second)[12:])
	reads := []string{"GET a", "GET b", "MGET {a}1 {a}2", "SUNION {a}1 {a}2", "XREAD STREAMS a 0", "OBJECT ENCODING a", "EXISTS a b"}
	for range 2 {
		for _, line := range reads {
			require.NotContains(t, c.Do(line), "MOVED", line)
		}
		require.Equal(t, "+RESET\r\n", c.Do("RESET"), "it is as new")
	}
	for line, key := range map[string]string{
		"SET a v": "a", "SET b v": "b", "DEL b": "b", "MSET b 1 a 2": "b", "DEL a b": "a", "BLPOP b a 0": "b", "EVAL return(1) 1 a": "a", "SORT a": "a", "XREADGROUP GROUP g c STREAMS a >": "a",
	} {
		require.Equal(t, moved(key), c.Do(line), line)
	}
	const readonly = "-READONLY You can't write against a read only replica.\r\n"
	for _, line := range []string{"FLUSHALL", "FLUSHDB", "FUNCTION FLUSH"} {
		require.Equal(t, readonly, c.Do(line), line)
	}

	require.Equal(t, "+OK\r\n", c.Do("MULTI"))
	require.Equal(t, "+QUEUED\r\n", c.Do("GET a"))
	require.Equal(t, "*1\r\n$-1\r\n", c.Do("EXEC"), "a transaction that reads")
	require.Equal(t, "+OK\r\n", c.Do("MULTI"))
	require.Equal(t, moved("a"), c.Do("SET a v"))
	require.Equal(t, "-EXECABORT Transaction discarded because of previous errors.\r\n", c.Do("EXEC"))

	require.Equal(t, "+OK\r\n", c.Do("READWRITE"))
	for line, key := range map[string]string{"GET a": "a", "GET b": "b", "MGET a b": "a", "SET a v": "a", "EVAL_RO return(1) 1 b": "b"} {
		require.Equal(t, moved(key), c.Do(line), line)
	}
	require.Equal(t, readonly, c.Do("FLUSHALL"))
	require.Equal(t, "+OK\r\n", c.Do("READONLY"))
	require.Equal(t, "$-1\r\n", c.Do("GET a"))
	require.Equal(t, ":0\r\n", c.Do("DBSIZE"), "nothing was written")
}

// TestAReplicaPortReadsTheNearest from the start, but what the client keeps or watches.
func TestAReplicaPortReadsTheNearest(t *testing.T) {
	cluster := proxytest.NewCluster()
	var seen sync.Mutex
	var near []bool
	cluster.Before = func(b *route.Batch) {
		seen.Lock()
		defer seen.Unlock()
		for i := range b.Ops {
			near = append(near, b.Ops[i].Nearest)
		}
	}
	c := startReplica(t, cluster)
	for _, step := range []struct {
		line string
		want []bool // of its operations
	}{
		{"GET a", []bool{true}},
		{"WATCH a", []bool{false}}, {"GET a", []bool{false}}, {"UNWATCH", nil}, {"GET a", []bool{true}},
		{"HELLO 3", nil}, {"CLIENT TRACKING on", nil}, {"GET a", []bool{false}}, {"CLIENT TRACKING off", nil}, {"GET a", []bool{true}},
		{"CLIENT TRACKING on OPTIN", nil}, {"GET a", []bool{true}}, {"CLIENT CACHING yes", nil}, {"GET a", []bool{false}}, {"GET a", []bool{true}}, {"CLIENT TRACKING off", nil},
		{"CLIENT TRACKING on BCAST", nil}, {"GET a", []bool{false}}, {"RESET", nil}, {"GET a", []bool{true}},
	} {
		seen.Lock()
		near = nil
		seen.Unlock()
		require.NotContains(t, c.Do(step.line), "MOVED")
		seen.Lock()
		require.Equal(t, step.want, near, step.line)
		seen.Unlock()
	}
}
