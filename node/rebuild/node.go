package rebuild

import (
	"context"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// Node is what a Rebuilder needs of the node whose slots are damaged.
type Node interface {
	// Formed is closed when the node has become part of a ring.
	Formed() <-chan struct{}
	// Epoch is that of a slot, 0 for one that there is not.
	Epoch(slot uint16) uint64
	// Others returns the nodes that hold the other replicas of a slot. An error says which of them is no node any more.
	Others(slot uint16) ([]Peer, error)
	// State returns what the store keeps about a slot. No slot has been opened yet.
	State(slot uint16) (record.SlotMeta, error)
	// Lock locks a slot.
	Lock(slot uint16) Slot
	// Committed waits until what has been written is durable.
	Committed(ctx context.Context) error
	// Unreadable tells the node of an error that reading a slot has met. No slot may be locked.
	Unreadable(slot uint16, err error)
	// StorageFailed tells the node of an error that ends all of it: what is under way is not sent any more. The slot is locked.
	StorageFailed(err error)
	// Failed reports whether the store has failed: there is nothing to rebuild a slot in.
	Failed() bool
}

// Slot is a slot while it is locked.
type Slot interface {
	// Open opens the slot if that has not been done yet, and returns why it does not vote, nil if it does. Errors wrap ErrNotHeld if it is not the node's any more.
	Open() error
	// Begin stops the slot for good, and begins to rebuild it. It has been opened.
	Begin() (*register.Rebuild, error)
	// Persist writes what a register.Rebuild of the slot wants to have persisted.
	Persist(w *register.Write) error
	// Restored lets the slot vote again.
	Restored()
	// Fence and Meta are those of the slot's register.Acceptor; what Fence has promised has been written. The slot has been opened.
	Fence(epoch uint64, b record.Ballot) (current bool, err error)
	Meta() record.SlotMeta
	// Scan calls visit with the records of the slot from a position on, until enough says so, and returns where to go on. Keys of
	// one position are never torn apart. key is borrowed.
	Scan(from engine.Position, enough func() bool, visit func(pos engine.Position, key []byte, rec record.Record)) (engine.Position, error)
	// Unlock ends it.
	Unlock()
}

// Peer is another node.
type Peer interface {
	// ID and Name are those of the member that it is.
	ID() uint16
	Name() string
	// Alive reports whether it answers, and Unreachable says why it does not.
	Alive() bool
	Unreachable() string
	// AskObjects asks it for something rare whose answer may refer to large objects, for as long as they take.
	AskObjects(ctx context.Context, method protocol.Method, payload []byte) ([]byte, protocol.Objects, error)
}
