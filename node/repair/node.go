package repair

import (
	"context"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/hint"
	"github.com/quolldb/quoll/ring"
)

// Node is what a Repairer needs of the node whose replicas it compares.
type Node interface {
	// Ring returns who holds which slot, and the number of this node there. The table is nil as long as the node does not vote.
	Ring() (table *ring.Table, self uint16)
	// Reason says why the node does not vote.
	Reason() string
	// Peers are the other nodes of the cluster, as of now.
	Peers() []Peer
	// Lock locks a slot, to look at it.
	Lock(slot uint16) Slots
	// LockForWrites locks a slot, to give its home something to do.
	LockForWrites(slot uint16) Slots
	// List lists records of this node, as a peer does that is asked for the same.
	List(request protocol.ScanRequest) (protocol.ScanPage, error)
	// Unreadable tells the node of an error that reading a slot has met. No slot may be locked.
	Unreadable(slot uint16, err error)
	// Busy reports whether the node has so much to do that nothing should be added to it in the background.
	Busy() bool
	// Back reports whether those who use a node that was restarted have found it again. Until then its homes turn away whatever
	// others may stand in for.
	Back() bool
}

// Slots are the slots that have one lock in common, while it is held. Errors of slots that are known to be damaged need
// not be told to Node.Unreadable; it does no harm.
type Slots interface {
	// Readable returns why a slot cannot be read, if that is known.
	Readable(slot uint16) error
	// Responsible reports whether it is this node that has to compare a slot, which is readable.
	Responsible(slot uint16) bool
	// Get, Stats, Leaves and Correct are those of the engine, whatever Readable says.
	Get(slot uint16, key []byte) (record.Record, bool, error)
	Stats(slot uint16) (engine.SlotStats, error)
	Leaves(slot uint16) (engine.Leaves, error)
	Correct(slot uint16, stats engine.SlotStats, leaves engine.Leaves) error
	// Scan calls visit with the records of a readable slot from a position on, until enough says so, and returns where to go
	// on. Keys of one position are never torn apart. key is borrowed.
	Scan(slot uint16, from engine.Position, enough func() bool, visit func(pos engine.Position, key []byte, rec record.Record)) (engine.Position, error)
	// Rewrite has the slot's home write the state of a key once more, whoever holds it; DeleteAgain has it delete a key that
	// is deleted or has expired. They call answered once, maybe before they return: whether that was done, as far as
	// is known. The slot is locked for writes.
	Rewrite(slot uint16, key []byte, answered func(done bool))
	DeleteAgain(slot uint16, key []byte, answered func(done bool))
	// Unlock ends it.
	Unlock()
}

// Peer is another node of the cluster.
type Peer interface {
	// ID and Name are those of the member that it is.
	ID() uint16
	Name() string
	// Alive reports whether it answers, Connected whether there is a connection, though it may be slow to answer, and
	// Unreachable says why it does not answer.
	Alive() bool
	Connected() bool
	Unreachable() string
	// Full reports whether it has no room for writes, Crowded whether it has none for more data.
	Full() bool
	Crowded() bool
	// Hints are what was noted of the writes that it missed, nil if nothing is.
	Hints() *hint.Set
	// Ask asks it for something rare, for a minute at most.
	Ask(ctx context.Context, method protocol.Method, payload []byte) ([]byte, error)
}
