package metrics

import "github.com/prometheus/client_golang/prometheus"

// MaxEvents is the number of protocol events that a Node can count.
const MaxEvents = 64

// Node counts what a node does. The zero Node is ready.
type Node struct {
	// Operations by what was asked: a read answered from this replica, a version for
	// somebody else's quorum read, a read that this home ordered, a write that this
	// home ran.
	Reads, Versions, HomeReads, Writes Counter

	// Accepts counts writes that this node stored as a replica.
	Accepts Counter

	// Refusals by reason: an older ring epoch, an older ballot, this node has no vote,
	// this node has too much to do.
	RefusedEpoch, RefusedBallot, RefusedNoVote, RefusedBusy Counter

	// Events counts what happened in the replication protocol (terms acquired,
	// step-downs, unknown outcomes, sync reads, full states needed, purges), indexed by
	// register.Event.
	Events [MaxEvents]Counter

	// Traffic of the peer protocol, all links together.
	FramesIn, FramesOut, BytesIn, BytesOut Counter
}

// NodeState is what a node holds and sees at one moment.
type NodeState struct {
	// Keys and Tombstones count records, Bytes the live keys and values.
	Keys, Tombstones, Bytes uint64
	// SlotsLed is the number of slots that this node holds the term of.
	SlotsLed int
	// GossipAlive is the number of nodes that gossip takes for alive, with this one.
	GossipAlive int
	// Voting is false while the node forms or after it lost its state.
	Voting bool
}

// Register shows the node under its name, which becomes the label "node". events are
// the names of Events, by index. state is called at every scrape, maybe from several
// goroutines at once; it should not take long.
func (n *Node) Register(r *Registry, name string, events []string, state func() NodeState) {
	c := &collector{constant: prometheus.Labels{"node": name}}
	c.counters("quoll_node_operations_total", "Operations executed, by kind.", "kind",
		kind{"read", &n.Reads}, kind{"version", &n.Versions}, kind{"home_read", &n.HomeReads}, kind{"write", &n.Writes})
	c.counter("quoll_node_accepts_total", "Writes stored as a replica.", &n.Accepts)
	c.counters("quoll_node_refusals_total", "Requests refused without effect, by reason.", "reason",
		kind{"epoch", &n.RefusedEpoch}, kind{"ballot", &n.RefusedBallot}, kind{"no_vote", &n.RefusedNoVote}, kind{"busy", &n.RefusedBusy})
	c.counters("quoll_node_events_total", "Events of the replication protocol.", "event", named(n.Events[:], events)...)
	c.counter("quoll_node_received_frames_total", "Frames received by the peer protocol.", &n.FramesIn)
	c.counter("quoll_node_sent_frames_total", "Frames sent by the peer protocol.", &n.FramesOut)
	c.counter("quoll_node_received_bytes_total", "Bytes received by the peer protocol.", &n.BytesIn)
	c.counter("quoll_node_sent_bytes_total", "Bytes sent by the peer protocol.", &n.BytesOut)
	c.nodeState(state)
	r.prometheus.MustRegister(c)
}

// nodeState shows all numbers of one call of state, so that they fit together.
func (c *collector) nodeState(state func() NodeState) {
	keys := c.describe("quoll_node_keys", "Live keys held.")
	tombstones := c.describe("quoll_node_tombstones", "Deletions held until all replicas know of them.")
	size := c.describe("quoll_node_data_bytes", "Length of the live keys and values held.")
	led := c.describe("quoll_node_led_slots", "Slots whose term this node holds.")
	alive := c.describe("quoll_node_gossip_alive_nodes", "Nodes that gossip takes for alive, with this one.")
	voting := c.describe("quoll_node_voting", "1 if the node votes, 0 while it forms or has lost its state.")
	c.collect = append(c.collect, func(ch chan<- prometheus.Metric) {
		now := state()
		gauge := func(desc *prometheus.Desc, value float64) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
		}
		gauge(keys, float64(now.Keys))
		gauge(tombstones, float64(now.Tombstones))
		gauge(size, float64(now.Bytes))
		gauge(led, float64(now.SlotsLed))
		gauge(alive, float64(now.GossipAlive))
		gauge(voting, truth(now.Voting))
	})
}

// truth is a bool as Prometheus knows it.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
