package collect

import (
	"context"
	"errors"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// Node is what a Collector needs of the node that slots come to.
type Node interface {
	// Self is the number of this node in its ring.
	Self() uint16
	// Peer returns another node, nil for one that is not known, and for this one.
	Peer(member uint16) Peer
	// Lock locks a slot.
	Lock(slot uint16) Slot
	// Committed waits until what has been written is durable.
	Committed(ctx context.Context) error
	// Busy reports whether the node has so much to do that nothing should be added to it in the background.
	Busy() bool
	// Room returns what the node is short of, nil as long as there is room for more data.
	Room() error
	// Failed reports whether the store has failed: there is nothing to collect a slot in.
	Failed() bool
}

// ErrOtherEpoch is returned for a slot that is not in the joint epoch that is meant, as far as the node knows, or not the node's.
var ErrOtherEpoch = errors.New("the slot is in another epoch of the ring")

// Slot is a slot while it is locked. Joint comes first.
type Slot interface {
	// Joint opens the slot, and has its replica take part in a joint epoch, which is durable before anything is that is written after it. A replica that
	// joins with this epoch holds nothing of former ones (R17). It returns the slot's members; the error is, or wraps, ErrOtherEpoch, or one of the store's.
	Joint(epoch uint64) (*register.Config, error)
	// Acceptor is the slot's replica. Wrote persists what it wants to have persisted, and tells it; the error is the store's.
	Acceptor() *register.Acceptor
	Wrote(w *register.Write) error
	// Scan calls visit with the records of the slot from a position on and below end, until enough says so, and returns where to go on. Keys of
	// one position are never torn apart. key is borrowed.
	Scan(from, end engine.Position, enough func() bool, visit func(pos engine.Position, key []byte, rec record.Record)) (engine.Position, error)
	// Fail tells the node of an error of the store.
	Fail(err error)
	// Leader is the member that leads the slot as far as the node knows, 0 if it knows of none.
	Leader() uint16
	// Again has the slot's home write the state of a key once more, whoever holds it. It calls answered once, maybe before it returns: whether that was
	// done, as far as is known. The key is kept.
	Again(key []byte, answered func(done bool))
	// Unlock ends it.
	Unlock()
}

// Peer is another node.
type Peer interface {
	// Name is that of the member that it is.
	Name() string
	// Alive reports whether it answers, and Unreachable says why it does not.
	Alive() bool
	Unreachable() string
	// Ask asks it for something rare, and AskObjects for what may refer to large objects.
	Ask(ctx context.Context, method protocol.Method, payload []byte) ([]byte, error)
	AskObjects(ctx context.Context, method protocol.Method, payload []byte) ([]byte, protocol.Objects, error)
}
