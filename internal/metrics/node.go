package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

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

	// Miscounted counts slots of which the store said something else than it held.
	Miscounted Counter

	// Rebuilt counts slots whose data was damaged and that were rebuilt from the other replicas.
	Rebuilt Counter

	// Collected counts slots that this node has collected because their members change.
	Collected Counter

	// Waits counts how often no more was executed for a proxy until it, or the other nodes, had taken some of what waited for them.
	Waits Counter

	// Evicted counts keys that this node's homes have evicted.
	Evicted Counter

	// Published counts messages that proxies have had published, MessagesDropped those that were not sent to a proxy since too much waited for it.
	Published, MessagesDropped Counter

	// ObjectsLost counts writes and answers that were as if lost, since their large object did not come whole.
	ObjectsLost Counter

	// Traffic of the peer protocol, all links together.
	FramesIn, FramesOut, BytesIn, BytesOut Counter
	// OwnRack and OtherRacks are the bytes of the links that this node has opened to others, by whether these are in its rack: writes on their way to replicas, and answers.
	OwnRack, OtherRacks Traffic
}

// Traffic counts the bytes of some links.
type Traffic struct{ Sent, Received Counter }

// NodeState is what a node holds and sees at one moment.
type NodeState struct {
	// Keys and Tombstones count records, Bytes the live keys and values.
	Keys, Tombstones, Bytes uint64
	// SlotsLed is the number of slots that this node holds the term of.
	SlotsLed int
	// GossipAlive is the number of nodes that gossip takes for alive, with this one.
	GossipAlive int
	// Voting is false while the node forms, and after it lost its state or its store failed.
	Voting bool
	// FailedSlots is the number of slots that the node does not vote for because their
	// data is damaged.
	FailedSlots int
	// Full: there is no room for writes.
	Full bool
	// RingVotes: it is one of those who decide on the ring, RingLeads: it leads them.
	RingVotes, RingLeads bool
	// Behind: it tells who waits that it is behind with its work.
	Behind bool
	// What the store takes of the disk, in bytes.
	Disk Disk
	// RepairKeys were written again because a replica had missed them, with so many bytes;
	// RepairFailed could not be. RepairListed records, of both sides, had their versions compared.
	RepairKeys, RepairBytes, RepairFailed, RepairListed uint64
	// Repair is what was found of each peer.
	Repair []PeerRepair
	// CollectSlots have yet to be collected because their members change, CollectKeys have been copied for that and CollectAgain written again, and
	// CollectBytes were read.
	CollectSlots                            int
	CollectKeys, CollectAgain, CollectBytes uint64
}

// PeerRepair is what a node found when it compared its replicas with a peer's: in how many slots
// they differed, and when that was known last, zero for never.
type PeerRepair struct {
	Peer           string
	SlotsDiffering int
	LastPass       time.Time
	// Complete is until when all that was written was found at the peer, zero for never.
	Complete time.Time
	// Hints are keys that the peer is known to have missed, and has not been given yet.
	Hints int
}

// Disk is what a store takes of the disk, in bytes: all its files, of which are records
// that are not obsolete, records that are, and the write-ahead log; and what is free.
type Disk struct{ Bytes, Live, Dead, Journal, Free uint64 }

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
	c.counter("quoll_node_miscounted_slots_total", "Slots whose counts did not fit their records, and were corrected: a fault in quoll.", &n.Miscounted)
	c.counter("quoll_node_rebuilt_slots_total", "Slots whose data was damaged, and was copied from the other replicas.", &n.Rebuilt)
	c.counter("quoll_node_collected_slots_total", "Slots that came to this node, or changed their members, and that it has collected from the other replicas.", &n.Collected)
	c.counter("quoll_node_published_messages_total", "Messages of clients that this node has published.", &n.Published)
	c.counter("quoll_node_dropped_messages_total", "Messages that were not sent to a proxy, since too much waited for it.", &n.MessagesDropped)
	c.counter("quoll_node_evicted_keys_total", "Keys that were evicted because memory was full, by the homes of this node.", &n.Evicted)
	c.counter("quoll_node_waits_total", "How often a proxy had to wait until it, or other nodes, had taken what waited for them.", &n.Waits)
	c.counter("quoll_node_lost_objects_total", "Writes and answers that counted as lost because their large object did not come whole: there was no room, or something was lost.", &n.ObjectsLost)
	c.counter("quoll_node_received_frames_total", "Frames received by the peer protocol.", &n.FramesIn)
	c.counter("quoll_node_sent_frames_total", "Frames of requests sent to other nodes.", &n.FramesOut)
	c.counter("quoll_node_received_bytes_total", "Bytes received by the peer protocol.", &n.BytesIn)
	c.counter("quoll_node_sent_bytes_total", "Bytes sent by the peer protocol.", &n.BytesOut)
	c.counters("quoll_node_rack_sent_bytes_total", "Bytes sent on links that this node opened to others, by whether these are in its rack.", "rack",
		kind{"own", &n.OwnRack.Sent}, kind{"other", &n.OtherRacks.Sent})
	c.counters("quoll_node_rack_received_bytes_total", "Bytes received on links that this node opened to others, by whether these are in its rack.", "rack",
		kind{"own", &n.OwnRack.Received}, kind{"other", &n.OtherRacks.Received})
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
	voting := c.describe("quoll_node_voting", "1 if the node votes, 0 while it forms, has lost its state, or its store failed.")
	failed := c.describe("quoll_node_failed_slots", "Slots that the node does not vote for because their data is damaged.")
	behind := c.describe("quoll_node_behind", "1 while the node tells who waits that it is behind with its work.")
	full := c.describe("quoll_node_full", "1 while there is no room for writes.")
	ringVotes := c.describe("quoll_node_ring_votes", "1 if the node is one of those who decide on changes of the ring.")
	ringLeads := c.describe("quoll_node_ring_leads", "1 if the node leads those who decide on changes of the ring: while none does it cannot be changed.")
	disk := c.describe("quoll_node_disk_bytes", "Size of all files of the store.")
	live := c.describe("quoll_node_disk_live_bytes", "Records on disk that are not obsolete.")
	dead := c.describe("quoll_node_disk_dead_bytes", "Obsolete records on disk, not yet given back.")
	journal := c.describe("quoll_node_journal_bytes", "Size of the write-ahead log.")
	free := c.describe("quoll_node_disk_free_bytes", "What the file system of the store has left.")
	repair, collected := c.repairState(), c.collectState()
	c.collect = append(c.collect, func(ch chan<- prometheus.Metric) {
		now := state()
		repair(ch, now)
		collected(ch, now)
		gauge := func(desc *prometheus.Desc, value float64) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
		}
		gauge(keys, float64(now.Keys))
		gauge(tombstones, float64(now.Tombstones))
		gauge(size, float64(now.Bytes))
		gauge(led, float64(now.SlotsLed))
		gauge(alive, float64(now.GossipAlive))
		gauge(voting, truth(now.Voting))
		gauge(failed, float64(now.FailedSlots))
		gauge(behind, truth(now.Behind))
		gauge(full, truth(now.Full))
		gauge(ringVotes, truth(now.RingVotes))
		gauge(ringLeads, truth(now.RingLeads))
		gauge(disk, float64(now.Disk.Bytes))
		gauge(live, float64(now.Disk.Live))
		gauge(dead, float64(now.Disk.Dead))
		gauge(journal, float64(now.Disk.Journal))
		gauge(free, float64(now.Disk.Free))
	})
}

// collectState returns what shows how slots come to the node.
func (c *collector) collectState() func(chan<- prometheus.Metric, NodeState) {
	slots := c.describe("quoll_node_collect_slots", "Slots whose members change, and that this node has yet to collect from the other replicas.")
	keys := c.describe("quoll_node_collected_keys_total", "Keys that were copied to this node because slots came to it.")
	again := c.describe("quoll_node_collected_again_total", "Keys that homes wrote again because a majority did not agree on them when their slot was collected.")
	size := c.describe("quoll_node_collected_bytes_total", "Bytes that this node has read from other replicas to collect slots.")
	return func(ch chan<- prometheus.Metric, now NodeState) {
		ch <- prometheus.MustNewConstMetric(slots, prometheus.GaugeValue, float64(now.CollectSlots))
		ch <- prometheus.MustNewConstMetric(keys, prometheus.CounterValue, float64(now.CollectKeys))
		ch <- prometheus.MustNewConstMetric(again, prometheus.CounterValue, float64(now.CollectAgain))
		ch <- prometheus.MustNewConstMetric(size, prometheus.CounterValue, float64(now.CollectBytes))
	}
}

// repairState returns what shows what the comparisons of replicas found.
func (c *collector) repairState() func(chan<- prometheus.Metric, NodeState) {
	keys := c.describe("quoll_node_repair_keys_total", "Keys written again because a replica had missed them.")
	size := c.describe("quoll_node_repair_bytes_total", "Length of the keys and values written again.")
	failed := c.describe("quoll_node_repair_failed_total", "Keys that could not be written again; it is tried again.")
	listed := c.describe("quoll_node_repair_listed_total", "Records, of this node and of peers, whose versions were compared because something near them differed.")
	differing := c.describe("quoll_node_repair_slots_differing", "Slots of which this node and the peer held different records when all were compared last.", "peer")
	last := c.describe("quoll_node_repair_last_pass_timestamp_seconds", "When all slots were compared with the peer last.", "peer")
	complete := c.describe("quoll_node_peer_complete_timestamp_seconds", "What this node held before that was found at the peer, of all slots that it compares with it: READONLY reads there are no older, but those of a slot whose home has changed since its last comparison.", "peer")
	hints := c.describe("quoll_node_hints", "Keys that the peer is known to have missed, and has not been given yet.", "peer")
	return func(ch chan<- prometheus.Metric, now NodeState) {
		count := func(desc *prometheus.Desc, n uint64) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n))
		}
		count(keys, now.RepairKeys)
		count(size, now.RepairBytes)
		count(failed, now.RepairFailed)
		count(listed, now.RepairListed)
		for _, p := range now.Repair {
			ch <- prometheus.MustNewConstMetric(differing, prometheus.GaugeValue, float64(p.SlotsDiffering), p.Peer)
			ch <- prometheus.MustNewConstMetric(hints, prometheus.GaugeValue, float64(p.Hints), p.Peer)
			if !p.LastPass.IsZero() {
				ch <- prometheus.MustNewConstMetric(last, prometheus.GaugeValue, float64(p.LastPass.UnixMilli())/1000, p.Peer)
			}
			if !p.Complete.IsZero() {
				ch <- prometheus.MustNewConstMetric(complete, prometheus.GaugeValue, float64(p.Complete.UnixMilli())/1000, p.Peer)
			}
		}
	}
}

// truth is a bool as Prometheus knows it.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
