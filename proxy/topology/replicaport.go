package topology

import (
	"net"
	"slices"
)

// ReplicaPort is the topology that a node tells of at its replica port: it is a replica there, which has no slots of its own.
type ReplicaPort struct{ *Nodes }

// Members returns what Nodes.Members does, but that the port is the one that is asked. If it is not shown as a replica of another node, it is one of its own node to its own clients.
func (t ReplicaPort) Members(net.Addr) []Member { return t.members(true) }

// Elsewhere says to which node clients are sent with what a replica does not do: always to a master.
func (t ReplicaPort) Elsewhere(slot uint16) (address string, elsewhere bool) {
	if p := t.Placement(); p != nil && p.Homes[slot] >= 0 {
		return p.Nodes[p.Homes[slot]].Address, true
	}
	return t.Announce, true
}

// replicaOf returns the replica port of a node at an address.
func replicaOf(node, port string) Member {
	m := member(port, "")
	m.ID, m.Alive = digitsOf("quoll replica port of "+node), true
	return m
}

// appendReplicas appends the replica ports that are shown. With own it is this node's that is asked.
func (t *Nodes) appendReplicas(members []Member, p *Placement, own bool) []Member {
	self := slices.IndexFunc(members, func(m Member) bool { return m.Self })
	add := func(node int, address, port string, master int) {
		m := replicaOf(address, port)
		m.Master, m.Self = members[master].ID, own && node == self
		members[master].Replicas = append(members[master].Replicas, int16(len(members)))
		members = append(members, m)
	}
	shown := false
	for i, n := range p.Nodes {
		if n.Replica != "" && n.Master >= 0 {
			add(i, n.Address, n.Replica, int(n.Master))
			shown = shown || i == self
		}
	}
	if own && !shown {
		add(self, t.Announce, t.AnnounceReplica, self)
	}
	if own {
		members[self].Self = false
	}
	return members
}
