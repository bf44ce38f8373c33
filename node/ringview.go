package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring/change"
)

// What operators see of the ring, and how they change it, through a node's admin API.
var _ admin.RingChanger = (*Node)(nil)

// RingView implements admin.RingChanger.
func (n *Node) RingView(context.Context) (admin.RingView, error) {
	doc := n.Document()
	if doc == nil {
		_, reason := n.state()
		return admin.RingView{}, fmt.Errorf("node %s knows no ring yet: %s", n.opt.Name, reason)
	}
	return admin.RingView{Document: *doc, Self: n.opt.Name, Alive: n.decisions.isAlive, SlotBytes: n.slotBytes()}, nil
}

// ProposeRing implements admin.RingChanger.
func (n *Node) ProposeRing(ctx context.Context, e change.Entry) error {
	err := n.Propose(ctx, e)
	if errors.Is(err, consensus.ErrRefused) || errors.Is(err, change.ErrImpossible) || errors.Is(err, change.ErrEntry) {
		return admin.Conflict(err.Error())
	}
	return err
}

// slotBytes returns a function that says about how many bytes a slot holds, slotKeys one for keys.
func (n *Node) slotBytes() func(slot uint16) int64 {
	return n.slotHolds(func(s engine.SlotStats) uint64 { return s.Bytes }, func(t engine.SlotStats) uint64 { return t.Bytes })
}

func (n *Node) slotKeys() func(slot uint16) int64 {
	return n.slotHolds(func(s engine.SlotStats) uint64 { return s.Live }, func(t engine.SlotStats) uint64 { return t.Live })
}

// slotHolds returns a function that says about how much a slot holds: what it does here or, of those that this node does not hold, what its own hold on average.
func (n *Node) slotHolds(of func(engine.SlotStats) uint64, all func(engine.SlotStats) uint64) func(slot uint16) int64 {
	v := n.replicas.View()
	if v == nil {
		return func(uint16) int64 { return 0 }
	}
	average := int64(0)
	if totals, err := n.engine.Totals(); err == nil && v.Table.ReplicaSlots(v.Self) > 0 {
		average = int64(all(totals)) / int64(v.Table.ReplicaSlots(v.Self))
	}
	return func(slot uint16) int64 {
		if v.Table.Contains(slot, v.Self) {
			if stats, err := n.slotStats(v.Table.Version(), slot); err == nil {
				return int64(of(stats))
			}
		}
		return average
	}
}
