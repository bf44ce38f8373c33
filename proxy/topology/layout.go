package topology

import (
	"crypto/sha1"
	"encoding/hex"
	"net"
	"slices"
	"strconv"

	"github.com/quolldb/quoll/ring"
)

// Member is a proxy, or a node that serves clients, as clients of a Redis Cluster see it: a master; or the replica port of such a node.
type Member struct {
	// ID is what CLUSTER MYID says: 40 hexadecimal digits, which follow from the address.
	ID string
	// Host and Port are where clients reach it.
	Host string
	Port int
	// Self: it is the one that is asked.
	Self bool
	// Alive: it answers. Otherwise it has no slots.
	Alive bool
	// Slots are in order.
	Slots []Slots
	// Replicas are the replica ports that hold all of them, by their place in the list of members.
	Replicas []int16
	// Master is the ID of whose slots a replica port has, as a replica; empty for a master.
	Master string
}

// Slots are those from First on and before End.
type Slots struct {
	First, End int
	// Replicas are the other members that hold all of them and are alive, by their place in the list of members, in order; none where there are replica ports. Proxies hold nothing.
	Replicas []int16
}

// layout divides the slots among the proxies of a list that are alive. self is in it, and alive.
func layout(addresses []string, self string, alive func(address string) bool) []Member {
	if !slices.Contains(addresses, self) {
		addresses = append(slices.Clone(addresses), self)
	}
	members, living := make([]Member, 0, len(addresses)), 0
	for _, address := range addresses {
		m := member(address, self)
		if m.Alive = m.Self || alive(address); m.Alive {
			living++
		}
		members = append(members, m)
	}
	nth := 0
	for i := range members {
		if members[i].Alive {
			members[i].Slots = []Slots{{First: nth * ring.Slots / living, End: (nth + 1) * ring.Slots / living}}
			nth++
		}
	}
	return members
}

// member returns the one at an address.
func member(address, self string) Member {
	host, port, _ := net.SplitHostPort(address) // it was validated
	m := Member{ID: idOf(address), Host: host, Self: address == self}
	m.Port, _ = strconv.Atoi(port)
	return m
}

func idOf(address string) string { return digitsOf("quoll proxy " + address) }

// digitsOf makes a name of 40 digits, as nodes of a Redis Cluster have. It keeps no secret.
func digitsOf(name string) string {
	sum := sha1.Sum([]byte(name))
	return hex.EncodeToString(sum[:])
}
