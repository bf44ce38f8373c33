package topology

import (
	"net"
	"slices"
	"time"

	"github.com/quolldb/quoll/ring"
)

// Placement is which nodes serve clients themselves, and which of them is each slot's home, most probably: the first of its replicas that serves clients and answers. It is immutable.
type Placement struct {
	// Nodes are in the order of the ring.
	Nodes []Node
	// Homes has for each slot the index of a node, -1 for none.
	Homes [ring.Slots]int16
	// Replicas has for each slot the nodes that hold it beside the home, and answer, in order.
	Replicas [ring.Slots][]int16
	// Since is when it was found out.
	Since time.Time
}

// Node is a node that serves clients.
type Node struct {
	// Address is where clients reach it, host:port.
	Address string
	// Replica is where they reach its replica port, empty if it has none.
	Replica string
	// Alive: it answers this one.
	Alive bool
	// Master is the node, by its index, that the replica port is shown as a replica of, -1 for none. Placement.Pair finds it.
	Master int16
}

// Same reports whether two placements differ in nothing but when they were found out.
func (p *Placement) Same(other *Placement) bool {
	return other != nil && slices.Equal(p.Nodes, other.Nodes) && p.Homes == other.Homes &&
		slices.EqualFunc(p.Replicas[:], other.Replicas[:], slices.Equal[[]int16])
}

// settled is how long a placement has to be known until clients are sent to others by it. Each node finds it out for itself: by then the others have, too, and two nodes do not send a client to
// each other. By one placement they do not, even if they disagree on who answers: each node sends a client to a replica that comes before itself in the slot's order, or to any if it is none.
const settled = time.Second

// Nodes is the topology that a node which serves clients tells of: each node is the master of the slots whose home it is. Any goroutine may use it.
type Nodes struct {
	// Announce is where clients reach this node, host:port.
	Announce string
	// AnnounceReplica is where they reach its replica port, empty if it has none: see ReplicaPort.
	AnnounceReplica string
	// Placement returns what is known, nil for nothing. It does not block.
	Placement func() *Placement
	// Replica reports whether this node has a replica of a slot. It does not block.
	Replica func(slot uint16) bool
}

// Members returns the nodes that serve clients. A slot that none of them is the home of is this one's: it serves every slot, as all of them do. Behind them are replica ports. Where there are such, they are the replicas
// of slots, and the nodes themselves are not.
func (t *Nodes) Members(net.Addr) []Member { return t.members(false) }

// members returns them. The one that is asked is this node, or its replica port.
func (t *Nodes) members(atReplica bool) []Member {
	p := t.Placement()
	if p == nil {
		p = &Placement{}
		for slot := range p.Homes {
			p.Homes[slot] = -1
		}
	}
	members, self := make([]Member, 0, len(p.Nodes)+1), -1
	for i, n := range p.Nodes {
		m := member(n.Address, t.Announce)
		m.Alive = n.Alive || m.Self
		members = append(members, m)
		if m.Self {
			self = i
		}
	}
	if self < 0 {
		self = len(members)
		m := member(t.Announce, t.Announce)
		m.Alive = true
		members = append(members, m)
	}
	masters := len(members)
	members = t.appendReplicas(members, p, atReplica)
	for slot, home := range p.Homes {
		if home < 0 {
			home = int16(self)
		}
		replicas := p.Replicas[slot]
		if len(members) > masters {
			replicas = nil
		}
		members[home].append(slot, replicas)
	}
	return members
}

// append gives the member one more slot, the next one.
func (m *Member) append(slot int, replicas []int16) {
	if n := len(m.Slots); n > 0 && m.Slots[n-1].End == slot && slices.Equal(m.Slots[n-1].Replicas, replicas) {
		m.Slots[n-1].End++
		return
	}
	m.Slots = append(m.Slots, Slots{slot, slot + 1, replicas})
}

// Followers returns the members that hold all slots of this one, by their place in the list of members.
func (m *Member) Followers() (all []int16) {
	for i, slots := range m.Slots {
		if i == 0 {
			all = slices.Clone(slots.Replicas)
		}
		all = slices.DeleteFunc(all, func(r int16) bool { return !slices.Contains(slots.Replicas, r) })
	}
	return all
}

// Elsewhere says to which other node clients are sent with a command on a slot.
func (t *Nodes) Elsewhere(slot uint16) (address string, elsewhere bool) {
	p := t.Placement()
	if p == nil || p.Homes[slot] < 0 {
		return "", false
	}
	address = p.Nodes[p.Homes[slot]].Address
	return address, address != t.Announce && time.Since(p.Since) >= settled
}

// Holds reports whether this node has a replica of a slot.
func (t *Nodes) Holds(slot uint16) bool { return t.Replica(slot) }
