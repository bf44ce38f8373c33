package session

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/proxy/topology"
	"github.com/quolldb/quoll/ring"
)

// Topology says who the masters are, to clients of a Redis Cluster: proxies, or nodes; and who their replicas.
type Topology interface {
	// Members returns them, replicas that are nodes of their own behind the masters. local is where the client has reached this one. It does not block.
	Members(local net.Addr) []topology.Member
	// Elsewhere says to which other one a client is sent with a command on a slot. It does not block.
	Elsewhere(slot uint16) (address string, elsewhere bool)
	// Holds reports whether this one has a replica of a slot. It does not block.
	Holds(slot uint16) bool
}

// clusterCommand is CLUSTER. Without a topology a proxy is a server with cluster support disabled; with one it is a master of a
// cluster whose masters are the proxies, https://redis.io/docs/reference/cluster-spec/.
var clusterCommand = container{"CLUSTER", append([]subcommand{
	{"COUNT-FAILURE-REPORTS", 3, inCluster(clusterReports), []string{"COUNT-FAILURE-REPORTS <node-id>", "Return 0: proxies do not report each other."}},
	{"COUNTKEYSINSLOT", 3, inCluster(clusterCountKeys), []string{"COUNTKEYSINSLOT <slot>", "Return the number of keys in <slot>."}},
	{"GETKEYSINSLOT", 4, inCluster(clusterGetKeys), []string{"GETKEYSINSLOT <slot> <count>", "Return key names in a slot."}},
	{"INFO", 2, inCluster(clusterInfo), []string{"INFO", "Return information about the cluster."}},
	{"KEYSLOT", 3, clusterKeySlot, []string{"KEYSLOT <key>", "Return the hash slot for <key>."}},
	{"LINKS", 2, inCluster(always("*0\r\n")), []string{"LINKS", "Return no links: proxies have none between them."}},
	{"MYID", 2, inCluster(clusterMyID), []string{"MYID", "Return the node id of this proxy."}},
	{"NODES", 2, inCluster(clusterNodes), []string{"NODES", "Return the proxies, as nodes. Output format:", "<id> <ip:port> <flags> <master> <pings> <pongs> <epoch> <link> <slot> ..."}},
	{"REPLICAS", 3, inCluster(clusterReplicas), []string{"REPLICAS <node-id>", "Return the replica ports of <node-id>, as nodes; proxies have none."}},
	{"SHARDS", 2, inCluster(clusterShards), []string{"SHARDS", "Return information about slot range mappings and the proxies associated with them."}},
	{"SLAVES", 3, inCluster(clusterReplicas), []string{"SLAVES <node-id>", "As REPLICAS."}},
	{"SLOTS", 2, inCluster(clusterSlots), []string{"SLOTS", "Return information about slots range mappings. Each range is made of:", "start, end, the address, port and id of the proxy or node, and of replica ports, or of who else holds it (to clients that are READONLY)"}},
}, withoutCluster()...)}

// withoutCluster returns the subcommands of CLUSTER that change a cluster: what proxies there are is a setting, and the ring is the nodes'.
func withoutCluster() (list []subcommand) {
	for name, arity := range map[string]int{
		"ADDSLOTS": -3, "ADDSLOTSRANGE": -4, "BUMPEPOCH": 2, "DELSLOTS": -3, "DELSLOTSRANGE": -4, "FAILOVER": -2, "FLUSHSLOTS": 2, "FORGET": 3,
		"MEET": -4, "REPLICATE": 3, "RESET": -2, "SAVECONFIG": 2, "SET-CONFIG-EPOCH": 3, "SETSLOT": -4,
	} {
		list = append(list, subcommand{name, arity, inCluster(never(errNoChange)), nil})
	}
	return list
}

// inCluster refuses a command where cluster support is disabled.
func inCluster(run handler) handler {
	return func(s *Session, dst []byte, args [][]byte) []byte {
		if s.service.cfg.Topology == nil {
			return route.AppendReply(dst, errNoCluster)
		}
		return run(s, dst, args)
	}
}

// ofMode returns what is so of a server alone, or of one of a cluster.
func (s *Service) ofMode(alone, cluster string) string {
	if s.cfg.Topology == nil {
		return alone
	}
	return cluster
}

// topology is what the client is told.
func (s *Session) topology() Topology {
	if s.replica {
		return s.service.cfg.ReplicaTopology
	}
	return s.service.cfg.Topology
}

// members returns the masters that there are, and behind them their replicas that are nodes of their own.
func (s *Session) members() []topology.Member { return s.topology().Members(s.conn.LocalAddr()) }

// masters returns those of members that are masters.
func (s *Session) masters(members []topology.Member) []topology.Member {
	for i, m := range members {
		if m.Master != "" {
			return members[:i]
		}
	}
	return members
}

// withSlots is how many of them have slots.
func withSlots(all []topology.Member) (n int) {
	for _, m := range all {
		n += min(1, len(m.Slots))
	}
	return n
}

func clusterKeySlot(s *Session, dst []byte, args [][]byte) []byte {
	return resp.AppendInt(dst, int64(ring.SlotOf(args[2])))
}

func clusterMyID(s *Session, dst []byte, _ [][]byte) []byte {
	all := s.members()
	self := slices.IndexFunc(all, func(m topology.Member) bool { return m.Self })
	return resp.AppendBulk(dst, all[self].ID)
}

// clusterInfo says that all is well as long as the proxy reaches the nodes.
func clusterInfo(s *Session, dst []byte, _ [][]byte) []byte {
	all := s.members()
	state, ok := "ok", ring.Slots
	if s.service.cluster.Loading() != nil {
		state, ok = "fail", 0
	}
	text := fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_slots_ok:%d\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:%d\r\n"+
		"cluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:0\r\ncluster_my_epoch:0\r\n"+
		"cluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0\r\ntotal_cluster_links_buffer_limit_exceeded:0\r\n",
		state, ring.Slots, ok, ring.Slots-ok, len(all), withSlots(all))
	return resp.AppendVerbatim(dst, text, s.resp3)
}

func clusterNodes(s *Session, dst []byte, _ [][]byte) []byte {
	var text []byte
	all := s.members()
	for _, m := range all {
		text = appendNode(text, &m)
	}
	return resp.AppendVerbatim(dst, string(text), s.resp3)
}

// appendNode appends a line of CLUSTER NODES. A proxy has no bus: its port is as if there were one.
func appendNode(text []byte, m *topology.Member) []byte {
	flags, link := "master", "connected"
	if m.Self {
		flags = "myself,master"
	} else if !m.Alive {
		flags, link = "master,fail", "disconnected"
	}
	master := "-"
	if m.Master != "" {
		flags, master = strings.Replace(flags, "master", "slave", 1), m.Master
	}
	text = fmt.Appendf(text, "%s %s@%d %s %s 0 0 0 %s", m.ID, net.JoinHostPort(m.Host, strconv.Itoa(m.Port)), m.Port+10000, flags, master, link)
	for _, slots := range m.Slots {
		if text = fmt.Appendf(text, " %d", slots.First); slots.End-1 > slots.First {
			text = fmt.Appendf(text, "-%d", slots.End-1)
		}
	}
	return append(text, '\n')
}

// memberOf returns which of the members has an ID. The error is a reply: none has.
func memberOf(members []topology.Member, id []byte) (at int, err error) {
	if at = slices.IndexFunc(members, func(m topology.Member) bool { return m.ID == string(id) }); at < 0 {
		return at, route.Refuse("ERR Unknown node " + string(beginning(id, 128)))
	}
	return at, nil
}

var errNotMaster = route.Refuse("ERR The specified node is not a master")

// clusterReplicas is CLUSTER REPLICAS: the replicas of a master that are nodes of their own, each as in CLUSTER NODES.
func clusterReplicas(s *Session, dst []byte, args [][]byte) []byte {
	all := s.members()
	at, err := memberOf(all, args[2])
	switch {
	case err != nil:
		return route.AppendReply(dst, err)
	case all[at].Master != "":
		return route.AppendReply(dst, errNotMaster)
	}
	dst = resp.AppendArray(dst, len(all[at].Replicas))
	for _, r := range all[at].Replicas {
		line := appendNode(nil, &all[r])
		dst = resp.AppendBulk(dst, line[:len(line)-1])
	}
	return dst
}

func clusterReports(s *Session, dst []byte, args [][]byte) []byte {
	if _, err := memberOf(s.members(), args[2]); err != nil {
		return route.AppendReply(dst, err)
	}
	return resp.AppendInt(dst, 0)
}

// clusterCountKeys is CLUSTER COUNTKEYSINSLOT slot, of all replicas together.
func clusterCountKeys(s *Session, dst []byte, args [][]byte) []byte {
	slot, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		return route.AppendReply(dst, errNotInteger)
	case slot < 0 || slot >= ring.Slots:
		return route.AppendReply(dst, errSlot)
	}
	keys, err := s.keysOfSlot(uint16(slot), math.MaxInt)
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return resp.AppendInt(dst, int64(len(keys)))
}

// clusterGetKeys is CLUSTER GETKEYSINSLOT slot count.
func clusterGetKeys(s *Session, dst []byte, args [][]byte) []byte {
	slot, ok := resp.ParseInt(args[2])
	count, countOK := resp.ParseInt(args[3])
	switch {
	case !ok || !countOK:
		return route.AppendReply(dst, errNotInteger)
	case slot < 0 || slot >= ring.Slots || count < 0:
		return route.AppendReply(dst, errSlotOrCount)
	}
	keys, err := s.keysOfSlot(uint16(slot), int(count))
	if err != nil {
		return route.AppendReply(dst, err)
	}
	dst = resp.AppendArray(dst, len(keys))
	for _, key := range keys {
		dst = resp.AppendBulk(dst, key)
	}
	return dst
}

// keysOfSlot returns keys of a slot, up to a number of them.
func (s *Session) keysOfSlot(slot uint16, most int) (keys [][]byte, err error) {
	for cursor := route.CursorOf(slot); len(keys) < most; {
		entries, next, err := s.service.cluster.Scan(s.conn.Server().Context(), s.database, cursor, min(most-len(keys), keysScanCount))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if ring.SlotOf(e.Key) == slot && len(keys) < most {
				keys = append(keys, e.Key)
			}
		}
		if next == 0 || next.Slot() != slot {
			break
		}
		cursor = next
	}
	return keys, nil
}

// runAsking is ASKING: every proxy answers every command.
var runAsking = inCluster(always(string(resp.OK)))
