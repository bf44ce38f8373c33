package admin

import "fmt"

// State says whether a node takes part in quorums.
type State string

// The states of a node.
const (
	// Voting: it holds its state and answers.
	Voting State = "voting"
	// Forming: it waits for the others to agree on the first epoch.
	Forming State = "forming"
	// LostState: it was restarted without its state, and must not vote under its old
	// identity: it would forget what it promised.
	LostState State = "lost-state"
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
	// SeenBy is what each other node says about this one: "alive", "suspect", "dead".
	SeenBy map[string]string `json:"seen_by,omitempty"`
}

// Faults says in one sentence each why the cluster is not healthy: it is not formed,
// or a node does not vote. It is empty when all is well.
func (s Status) Faults() []string {
	var faults []string
	if !s.Formed {
		faults = append(faults, "the cluster is not formed yet")
	}
	for _, node := range s.Nodes {
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
