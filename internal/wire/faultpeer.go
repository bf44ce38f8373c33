//go:build faults

package wire

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
)

// faultPeer is whom rules are about. The zero value is a peer that is not known yet.
type faultPeer struct {
	role Role
	name string
}

func (p faultPeer) known() bool { return p != faultPeer{} }

// met remembers who was met in this process: who answers at which address, so that
// the next connection is cut from its first byte on, and how many connections there were with
// each peer.
var met = struct {
	sync.Mutex
	at          map[string]faultPeer
	connections map[string]uint64
}{at: map[string]faultPeer{}, connections: map[string]uint64{}}

// peerAt returns who answered at an address when it was dialed last.
func peerAt(address string) faultPeer {
	met.Lock()
	defer met.Unlock()
	return met.at[address]
}

// noteConnection notes a connection, dialed at address or accepted (""), and returns its name: the
// same in every run in which the connections with this peer come about in this order.
func noteConnection(peer faultPeer, address string) (connection string) {
	met.Lock()
	defer met.Unlock()
	if address != "" {
		met.at[address] = peer
	}
	connection = fmt.Sprintf("%s %q, dialed %t", peer.role, peer.name, address != "")
	met.connections[connection]++
	return fmt.Sprintf("%s, number %d", connection, met.connections[connection])
}

// randomFor returns the random numbers of a connection.
func randomFor(seed uint64, connection string) *rand.Rand {
	hash := fnv.New64a()
	hash.Write([]byte(connection))
	return rand.New(rand.NewPCG(seed, hash.Sum64()))
}
