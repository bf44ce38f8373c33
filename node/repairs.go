package node

import (
	"context"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/repair"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// What package repair sees of a node: its ring, its slots and its peers.

// A Node can have replicas repaired through its admin API.
var _ admin.RepairSource = (*Node)(nil)

// RepairAll implements admin.RepairSource: it lets every node compare its replicas, itself too.
func (n *Node) RepairAll(ctx context.Context, request admin.RepairRequest, report func(admin.RepairProgress) error) error {
	return n.repairs.RepairAll(ctx, request, report)
}

func newRepairer(n *Node) *repair.Repairer {
	return repair.New(n.life, &compared{n}, repair.Options{Name: n.opt.Name, Interval: n.opt.RepairInterval, Rate: n.opt.RepairRate,
		Logger: n.log, Metrics: &n.Metrics})
}

// compared is a node whose replicas are compared.
type compared struct{ node *Node }

// Ring implements repair.Node.
func (c *compared) Ring() (table *ring.Table, self uint16) {
	v := c.node.replicas.View()
	if v == nil || c.node.replicas.Failed() {
		return nil, 0
	}
	return v.Table, v.Self
}

// Reason implements repair.Node.
func (c *compared) Reason() string {
	_, reason := c.node.state()
	return reason
}

// Peers implements repair.Node.
func (c *compared) Peers() []repair.Peer {
	all := c.node.peers.All()
	peers := make([]repair.Peer, len(all))
	for i, p := range all {
		peers[i] = hintedPeer{p, c.node}
	}
	return peers
}

// Lock implements repair.Node.
func (c *compared) Lock(slot uint16) repair.Slots {
	return comparedSlots{publicStripe{c.node.replicas.Lock(slot, nil)}}
}

// LockForWrites implements repair.Node.
func (c *compared) LockForWrites(slot uint16) repair.Slots {
	return comparedSlots{publicStripe{c.node.replicas.Lock(slot, c.node.replicas.Begin())}}
}

// List implements repair.Node.
func (c *compared) List(request protocol.ScanRequest) (protocol.ScanPage, error) {
	return c.node.scan(request)
}

// Unreadable implements repair.Node.
func (c *compared) Unreadable(slot uint16, err error) { c.node.replicas.Unreadable(slot, err) }

// Busy implements repair.Node.
func (c *compared) Busy() bool { return c.node.exec.Busy() }

// Back implements repair.Node.
func (c *compared) Back() bool { return c.node.returned.Load() }

// comparedSlots are the slots of a stripe that is locked.
type comparedSlots struct{ publicStripe }

// Get implements repair.Slots.
func (s comparedSlots) Get(slot uint16, key []byte) (record.Record, bool, error) {
	return s.Engine().Get(slot, key)
}

// Stats implements repair.Slots.
func (s comparedSlots) Stats(slot uint16) (engine.SlotStats, error) { return s.Engine().Stats(slot) }

// Leaves implements repair.Slots.
func (s comparedSlots) Leaves(slot uint16) (engine.Leaves, error) { return s.Engine().Leaves(slot) }

// Correct implements repair.Slots.
func (s comparedSlots) Correct(slot uint16, stats engine.SlotStats, leaves engine.Leaves) error {
	return s.Engine().Correct(slot, stats, leaves)
}

// Scan implements repair.Slots.
func (s comparedSlots) Scan(slot uint16, from engine.Position, enough func() bool,
	visit func(pos engine.Position, key []byte, rec record.Record)) (engine.Position, error) {
	return s.Stripe.Scan(slot, from, engine.EndPosition, enough, visit)
}

// Rewrite implements repair.Slots.
func (s comparedSlots) Rewrite(slot uint16, key []byte, answered func(done bool)) {
	s.Background(slot, replica.OpRepair, key, answered)
}

// DeleteAgain implements repair.Slots.
func (s comparedSlots) DeleteAgain(slot uint16, key []byte, answered func(done bool)) {
	s.Background(slot, replica.OpExpire, key, answered)
}
