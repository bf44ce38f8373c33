package membership

import (
	"context"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

// Node is what a Membership needs of the node that is to vote in a ring.
type Node interface {
	// Prepare returns what lets the node vote in a ring, or why it cannot. Addresses are those where members are reached.
	Prepare(doc change.Document) (enter func(), err error)
	// Learn has the node work by a later version of the ring that it votes in. It may take a while.
	Learn(doc change.Document) error
	// Acquaint has a node that does not vote in a ring know its members.
	Acquaint(doc change.Document)
	// Announce tells proxies and gossip which ring this node knows, and nodes if it says so. It does not block.
	Announce(news protocol.RingNews, nodes bool)
	// Peers are the other nodes of the initial cluster, and the members of the ring that is known.
	Peers() []Peer
	// State says whether the node votes and, if not, why: it knows of more than Membership.State.
	State() (admin.State, string)
	// Proxies is how many proxies are connected.
	Proxies() int
	// Holds tells how many keys the node's store holds, and of how many bytes.
	Holds() (keys, bytes uint64)
	// StorageFailed tells the node that its store has failed, and Failed reports whether it has.
	StorageFailed(err error)
	Failed() bool
	// Broken tells the node that it cannot go on.
	Broken(err error)
}

// Peer is another node.
type Peer interface {
	// ID, Name and Address are those of the member, in the ring or in the initial cluster.
	ID() uint16
	Name() string
	Address() string
	// Up reports whether it is connected and answers, Down whether there is no connection, and Unreachable says why it does not answer.
	Up() bool
	Down() bool
	Unreachable() string
	// Properties are what it said of itself when it was connected last, nil before.
	Properties() *protocol.Properties
	// Ask asks it for something rare.
	Ask(ctx context.Context, method protocol.Method, payload []byte) ([]byte, error)
}
