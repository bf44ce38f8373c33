package node

import (
	"context"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/repair"
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
	peers := make([]repair.Peer, len(n.peers))
	for i, p := range n.peers {
		peers[i] = publicPeer{p}
	}
	return repair.New(n.life, &compared{n, peers}, repair.Options{Name: n.opt.Name, Interval: n.opt.RepairInterval, Rate: n.opt.RepairRate,
		Logger: n.log, Metrics: &n.Metrics})
}

// compared is a node whose replicas are compared.
type compared struct {
	node  *Node
	peers []repair.Peer
}

// Ring implements repair.Node.
func (c *compared) Ring() (table *ring.Table, self uint16) {
	v := c.node.view.Load()
	if v == nil || c.node.failed.Load() {
		return nil, 0
	}
	return v.table, v.self
}

// Reason implements repair.Node.
func (c *compared) Reason() string {
	_, reason := c.node.state()
	return reason
}

// Peers implements repair.Node.
func (c *compared) Peers() []repair.Peer { return c.peers }

// Lock implements repair.Node.
func (c *compared) Lock(slot uint16) repair.Slots {
	return comparedSlots{publicStripe{c.node.lock(slot, nil)}}
}

// LockForWrites implements repair.Node.
func (c *compared) LockForWrites(slot uint16) repair.Slots {
	return comparedSlots{publicStripe{c.node.lock(slot, c.node.getOutbox())}}
}

// List implements repair.Node.
func (c *compared) List(request protocol.ScanRequest) (protocol.ScanPage, error) {
	return c.node.scan(c.node.view.Load(), request)
}

// Unreadable implements repair.Node.
func (c *compared) Unreadable(slot uint16, err error) { c.node.unreadable(slot, err) }

// Busy implements repair.Node.
func (c *compared) Busy() bool { return c.node.inFlight.Load() > maxInFlight/2 }

// Back implements repair.Node.
func (c *compared) Back() bool { return c.node.returned.Load() }

// comparedSlots are the slots of a stripe that is locked.
type comparedSlots struct{ publicStripe }

// Readable implements repair.Slots.
func (s comparedSlots) Readable(slot uint16) error { return s.readable(slot) }

// Responsible implements repair.Slots.
func (s comparedSlots) Responsible(slot uint16) bool {
	return s.responsible(s.node.view.Load(), slot)
}

// Get implements repair.Slots.
func (s comparedSlots) Get(slot uint16, key []byte) (record.Record, bool, error) {
	return s.node.engine.Get(slot, key)
}

// Stats implements repair.Slots.
func (s comparedSlots) Stats(slot uint16) (engine.SlotStats, error) { return s.node.engine.Stats(slot) }

// Leaves implements repair.Slots.
func (s comparedSlots) Leaves(slot uint16) (engine.Leaves, error) { return s.node.engine.Leaves(slot) }

// Correct implements repair.Slots.
func (s comparedSlots) Correct(slot uint16, stats engine.SlotStats, leaves engine.Leaves) error {
	return s.node.engine.Correct(slot, stats, leaves)
}

// Scan implements repair.Slots.
func (s comparedSlots) Scan(slot uint16, from engine.Position, enough func() bool,
	visit func(pos engine.Position, key []byte, rec record.Record)) (engine.Position, error) {
	return s.scan(slot, from, engine.EndPosition, enough, visit)
}

// Rewrite implements repair.Slots.
func (s comparedSlots) Rewrite(slot uint16, key []byte, answered func(done bool)) {
	s.background(slot, opRepair, key, answered)
}

// DeleteAgain implements repair.Slots.
func (s comparedSlots) DeleteAgain(slot uint16, key []byte, answered func(done bool)) {
	s.background(slot, opExpire, key, answered)
}
