package admin

import (
	"fmt"
	"slices"
	"time"
)

// State says whether a node takes part in quorums.
type State string

// The states of a node.
const (
	// Voting: it holds its state and answers.
	Voting State = "voting"
	// Forming: it waits for the others to agree on the first epoch.
	Forming State = "forming"
	// LostState: it was restarted without its state, and must not vote under its old
	// identity: it has forgotten what it promised.
	LostState State = "lost-state"
	// Left: the ring does not name it any more. It holds nothing.
	Left State = "left"
	// Failed: its store failed, by an I/O error for example. What the store holds is not
	// given up with that.
	Failed State = "failed"
	// Unreachable: the process that was asked cannot reach it.
	Unreachable State = "unreachable"
)

// Status is the cluster as one process sees it.
type Status struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster"`
	// Epoch is the ring epoch.
	Epoch uint64 `json:"epoch"`
	// Formed is false until the first epoch is agreed on.
	Formed bool `json:"formed"`
	// Replicas is the number of nodes that hold each key.
	Replicas int `json:"replicas"`
	// Seen names the process that answered.
	Seen string `json:"seen"`
	// Nodes are all members of the ring, by name.
	Nodes []NodeStatus `json:"nodes"`
	// Moves says how far the plan is that changes the ring, empty if none is under way.
	Moves string `json:"moves,omitempty"`
	// Deciders are those who decide on changes of the ring, as far as the node knows that answered; null before there is a ring.
	Deciders *Deciders `json:"deciders,omitempty"`
	// Survival is what more failures would do; null until the ring has formed.
	Survival *Survival `json:"survival,omitempty"`
	// Warnings are sentences for the operator.
	Warnings []string `json:"warnings,omitempty"`
}

// NodeStatus is one member of the ring.
type NodeStatus struct {
	Name string `json:"name"`
	// ID is the member's number in the peer protocol.
	ID uint16 `json:"id"`
	// Peer is its peer address.
	Peer string `json:"peer"`
	Rack string `json:"rack,omitempty"`
	// Version is that of quoll; empty when it could not be asked.
	Version string `json:"version,omitempty"`
	// Generation identifies one life of its data, in hexadecimal.
	Generation string `json:"generation,omitempty"`
	State      State  `json:"state"`
	// Reason says why the state is not voting.
	Reason string `json:"reason,omitempty"`
	// Ring is waiting, joining or leaving if the ring is to change for it, else empty.
	Ring string `json:"ring,omitempty"`
	// HomeSlots and ReplicaSlots come from the ring: the slots that prefer this node
	// as home, and all that it holds (HomeSlots among them).
	HomeSlots    int `json:"home_slots"`
	ReplicaSlots int `json:"replica_slots"`
	// LeadingSlots are those whose term it holds at the moment.
	LeadingSlots int `json:"leading_slots"`
	// Keys and Tombstones count records; Bytes is the length of live keys and values.
	Keys          uint64 `json:"keys"`
	Tombstones    uint64 `json:"tombstones"`
	Bytes         uint64 `json:"bytes"`
	UptimeSeconds int64  `json:"uptime_seconds"`
	// CertificateExpires is when the certificate of its peer port does, null if it has none; CertificateDue: it is to be replaced soon.
	CertificateExpires *time.Time `json:"certificate_expires,omitempty"`
	CertificateDue     bool       `json:"certificate_due,omitempty"`
	// Engine is its store, Fsync when that makes writes durable; empty when not known.
	Engine string `json:"engine,omitempty"`
	Fsync  string `json:"fsync,omitempty"`
	// Volatile: its data is in memory only, and lost with the process.
	Volatile bool `json:"volatile,omitempty"`
	// Disk is what the store takes of the disk, null for one that takes nothing.
	Disk *Disk `json:"disk,omitempty"`
	// Memory is how much of its memory the data take, null for a node on disk.
	Memory *Memory `json:"memory,omitempty"`
	// Slow: most others wait long for its answers, and it leads nothing therefore.
	Slow bool `json:"slow,omitempty"`
	// Behind: it has had more to do than it can for some seconds.
	Behind bool `json:"behind,omitempty"`
	// ClockAheadSeconds is by how much its machine's clock differs from what the nodes agree on, if
	// that is more than they tolerate. It is not used then.
	ClockAheadSeconds float64 `json:"clock_ahead_seconds,omitempty"`
	// Full says what the store is short of while it has no room for writes.
	Full string `json:"full,omitempty"`
	// DamagedSlots counts the slots whose data cannot be read: it does not vote for them.
	// Damage says what was found first.
	DamagedSlots int    `json:"damaged_slots,omitempty"`
	Damage       string `json:"damage,omitempty"`
	// DamagedSlotNumbers are those slots.
	DamagedSlotNumbers []uint16 `json:"damaged_slot_numbers,omitempty"`
	// Repair is what this node found when it compared its replicas with other nodes'.
	Repair []PeerRepair `json:"repair,omitempty"`
	// RepairedKeys were written again because a replica had missed them, with so many bytes;
	// RepairFailed could not be.
	RepairedKeys  int64 `json:"repaired_keys,omitempty"`
	RepairedBytes int64 `json:"repaired_bytes,omitempty"`
	RepairFailed  int64 `json:"repair_failed,omitempty"`
	// RepairPaused: by its settings it writes nothing again by itself.
	RepairPaused bool `json:"repair_paused,omitempty"`
	// Collecting says how far it is with the slots that it collects because their members change, null if there are none.
	Collecting *Collecting `json:"collecting,omitempty"`
	// Decides: it leads those who decide on the ring. Undecided is why it takes no part in that, empty if it does, or if it is not to.
	Decides   bool   `json:"decides,omitempty"`
	Undecided string `json:"undecided,omitempty"`
	// SeenBy is what each other node says about this one: "alive", "suspect", "dead".
	SeenBy map[string]string `json:"seen_by,omitempty"`
}

// Collecting is how far a node is with slots that it collects.
type Collecting struct {
	// Slots have yet to be collected.
	Slots int `json:"slots"`
	// Keys were copied since the node was started, and Rewritten written again, for Bytes that were read; BytesPerSecond is how fast it is at present.
	Keys           int64 `json:"keys"`
	Rewritten      int64 `json:"rewritten"`
	Bytes          int64 `json:"bytes"`
	BytesPerSecond int64 `json:"bytes_per_second"`
	// Held says why one of the slots cannot go on; empty if none is held up.
	Held string `json:"held,omitempty"`
}

// Memory is how much memory the data of a node take, and which keys go when they take too much. Policy, Samples, LogFactor and DecayTime are as in Redis.
type Memory struct {
	Used      int64  `json:"used"`
	Limit     int64  `json:"maxmemory"`
	Policy    string `json:"policy"`
	Samples   int    `json:"samples"`
	LogFactor int    `json:"lfu_log_factor"`
	DecayTime int    `json:"lfu_decay_time"`
	// Evicted counts the keys that its homes have evicted since it was started.
	Evicted uint64 `json:"evicted_keys"`
}

// Disk is what a store takes of the disk, in bytes.
type Disk struct {
	// Bytes is the size of all its files; Live what of them are records that are not
	// obsolete, Dead what will be given back; Journal the size of the write-ahead log.
	Bytes   uint64 `json:"bytes"`
	Live    uint64 `json:"live"`
	Dead    uint64 `json:"dead"`
	Journal uint64 `json:"journal"`
	// Free is what the file system has left.
	Free uint64 `json:"free"`
}

// Faults says in one sentence each why the cluster is not healthy: it is not formed,
// or a node does not vote, for some slots or at all, or has no room. It is empty when all is well.
func (s Status) Faults() []string {
	var faults []string
	switch {
	case s.allLost():
		faults = append(faults, "no node has its state any more, so what was written is lost: let all nodes form an empty cluster, quoll ring reform")
	case !s.Formed:
		faults = append(faults, "the cluster is not formed yet")
	}
	for _, node := range s.Nodes {
		if node.DamagedSlots > 0 {
			faults = append(faults, fmt.Sprintf("node %s does not vote for %s: %s", node.Name, slotsDamaged(node.DamagedSlots), node.Damage))
		}
		if node.Slow {
			faults = append(faults, fmt.Sprintf("node %s is slow: the others wait long for its answers, and lead its slots meanwhile; look at its disk, processor and network", node.Name))
		}
		if node.Behind {
			faults = append(faults, fmt.Sprintf("node %s is behind with its work: clients wait for longer, nothing is refused; look at its disk and processor, or send less", node.Name))
		}
		if ahead := time.Duration(node.ClockAheadSeconds * float64(time.Second)).Round(time.Second); ahead != 0 {
			faults = append(faults, fmt.Sprintf("the clock of node %s is wrong by %s: it uses the time of the others; correct it", node.Name, ahead))
		}
		if node.Full != "" {
			faults = append(faults, fmt.Sprintf("node %s has no room for writes: %s", node.Name, node.Full))
		}
		if node.State == Voting {
			continue
		}
		fault := fmt.Sprintf("node %s does not vote: %s", node.Name, node.State)
		if node.Reason != "" {
			fault += ": " + node.Reason
		}
		faults = append(faults, fault)
	}
	return faults
}

// allLost: every node was part of a cluster, and none has its state.
func (s Status) allLost() bool {
	return len(s.Nodes) > 0 && !slices.ContainsFunc(s.Nodes, func(n NodeStatus) bool { return n.State != LostState })
}

func slotsDamaged(n int) string {
	if n == 1 {
		return "1 slot, which is damaged"
	}
	return fmt.Sprintf("%d slots, which are damaged", n)
}
