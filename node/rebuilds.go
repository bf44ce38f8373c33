package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/rebuild"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/repair"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// What package rebuild sees of a node.

func newRebuilder(n *Node) *rebuild.Rebuilder {
	rate := n.opt.RepairRate
	if rate < 0 { // repairs are paused; a slot that does not vote cannot wait
		rate = repair.DefaultRate
	}
	return rebuild.New(rebuilt{n}, rebuild.Options{Rate: rate, Logger: n.log, Metrics: &n.Metrics})
}

// rebuilt is a node whose slots are rebuilt.
type rebuilt struct{ node *Node }

// Formed implements rebuild.Node.
func (r rebuilt) Formed() <-chan struct{} { return r.node.Formed() }

// Epoch implements rebuild.Node.
func (r rebuilt) Epoch(slot uint16) uint64 {
	if slot >= ring.Slots {
		return 0
	}
	return r.node.replicas.View().Table.Epoch(slot)
}

// Others implements rebuild.Node.
func (r rebuilt) Others(slot uint16) (others []rebuild.Peer, err error) {
	v := r.node.replicas.View()
	for _, id := range v.Table.Members(slot) {
		switch p := r.node.peers.Of(id); {
		case id == v.Self:
		case p == nil:
			return nil, fmt.Errorf("member %d has lost its state, and another one has yet to take its place in the slot", id)
		default:
			others = append(others, p)
		}
	}
	return others, nil
}

// State implements rebuild.Node.
func (r rebuilt) State(slot uint16) (record.SlotMeta, error) { return r.node.engine.Slot(slot) }

// Lock implements rebuild.Node.
func (r rebuilt) Lock(slot uint16) rebuild.Slot {
	return rebuiltSlot{publicStripe{r.node.replicas.Lock(slot, r.node.replicas.Begin())}, slot}
}

// Committed implements rebuild.Node.
func (r rebuilt) Committed(ctx context.Context) error { return r.node.committed(ctx) }

// Unreadable implements rebuild.Node.
func (r rebuilt) Unreadable(slot uint16, err error) { r.node.replicas.Unreadable(slot, err) }

// StorageFailed implements rebuild.Node.
func (r rebuilt) StorageFailed(err error) { r.node.replicas.StorageFailed(err) }

// Failed implements rebuild.Node.
func (r rebuilt) Failed() bool { return r.node.replicas.Failed() }

// rebuiltSlot is a slot whose stripe is locked.
type rebuiltSlot struct {
	publicStripe
	number uint16
}

// Open implements rebuild.Slot.
func (s rebuiltSlot) Open() error {
	_, err := s.Slot(s.number)
	if errors.Is(err, replica.ErrNotReplica) {
		return rebuild.ErrNotHeld
	}
	return err
}

// Begin implements rebuild.Slot.
func (s rebuiltSlot) Begin() (*register.Rebuild, error) { return s.Rebuild(s.number) }

// Persist implements rebuild.Slot.
func (s rebuiltSlot) Persist(w *register.Write) error { return s.Stripe.Persist(w) }

// Restored implements rebuild.Slot.
func (s rebuiltSlot) Restored() { s.Stripe.Restored(s.number) }

// Fence implements rebuild.Slot.
func (s rebuiltSlot) Fence(epoch uint64, b record.Ballot) (current bool, err error) {
	return s.Stripe.Fence(s.number, epoch, b)
}

// Meta implements rebuild.Slot.
func (s rebuiltSlot) Meta() record.SlotMeta { return s.Stripe.Meta(s.number) }

// Scan implements rebuild.Slot.
func (s rebuiltSlot) Scan(from engine.Position, enough func() bool,
	visit func(pos engine.Position, key []byte, rec record.Record)) (engine.Position, error) {
	return s.Stripe.Scan(s.number, from, engine.EndPosition, enough, visit)
}
