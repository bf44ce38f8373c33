package topology

import (
	"crypto/sha1"
	"encoding/hex"
	"net"
	"slices"
	"strconv"

	"github.com/quolldb/quoll/ring"
)

// Member is a proxy, as clients of a Redis Cluster see it: a master.
type Member struct {
	// ID is what CLUSTER MYID says: 40 hexadecimal digits, which follow from the address.
	ID string
	// Host and Port are where clients reach it.
	Host string
	Port int
	// Self: it is the one that is asked.
	Self bool
	// Alive: it answers. Slots has no slot otherwise.
	Alive bool
	Slots Slots
}

// Slots are those from First on and before End.
type Slots struct{ First, End int }

// None reports whether there is no slot.
func (s Slots) None() bool { return s.First >= s.End }

// layout divides the slots among the proxies of a list that are alive. self is in it, and alive.
func layout(addresses []string, self string, alive func(address string) bool) []Member {
	if !slices.Contains(addresses, self) {
		addresses = append(slices.Clone(addresses), self)
	}
	members, living := make([]Member, 0, len(addresses)), 0
	for _, address := range addresses {
		host, port, _ := net.SplitHostPort(address) // it was validated
		m := Member{ID: idOf(address), Host: host, Self: address == self}
		m.Port, _ = strconv.Atoi(port)
		if m.Alive = m.Self || alive(address); m.Alive {
			living++
		}
		members = append(members, m)
	}
	nth := 0
	for i := range members {
		if members[i].Alive {
			members[i].Slots = Slots{nth * ring.Slots / living, (nth + 1) * ring.Slots / living}
			nth++
		}
	}
	return members
}

// idOf makes a name of 40 digits, as nodes of a Redis Cluster have. It keeps no secret.
func idOf(address string) string {
	sum := sha1.Sum([]byte("quoll proxy " + address))
	return hex.EncodeToString(sum[:])
}
