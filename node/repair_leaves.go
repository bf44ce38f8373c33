package node

import (
	"context"
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/engine"
)

// One key that was missed, or is being written, makes a whole slot differ, and a client can put a million
// keys in one slot. So the digest of a large slot is split into leaves, which are compared first, and
// keys are listed of leaves only that differ at every one of some looks: a write that is under way makes a leaf
// differ for a moment, and the next one is of another leaf as a rule.

const (
	// leavesFrom is the number of a slot's records from which on its leaves take less to tell, as often as
	// they are looked at, than the versions of all its keys.
	leavesFrom = 128
	// leafLooks is how often a leaf has to differ, at looks that are a tenth of settling apart.
	leafLooks = 3
)

// part is what is compared of a slot: some leaves, leaf i as bit i.
type part struct {
	slot   uint16
	leaves uint64
}

// narrow returns what differs of some slots: of those that are large the leaves that do, if any, of others
// everything. A peer that does not know leaves yet lists everything.
func (c *comparison) narrow(ctx context.Context, slots []uint16) ([]part, error) {
	parts := make([]part, len(slots))
	var large []*part
	for i, number := range slots {
		parts[i] = part{number, protocol.AllLeaves}
		stats, err := c.node.slotStats(number)
		if err == nil && stats.Live+stats.Tombstones >= leavesFrom { // the error will be that of listing it
			large = append(large, &parts[i])
		}
	}
	for look := 0; look < leafLooks && len(large) > 0; look++ {
		if look > 0 && !sleep(ctx, c.settling/10) {
			return nil, ctx.Err()
		}
		err := c.look(ctx, large)
		if errors.Is(err, protocol.ErrCall) {
			break
		}
		if err != nil {
			return nil, err
		}
		large = slices.DeleteFunc(large, func(p *part) bool { return p.leaves == 0 })
	}
	return slices.DeleteFunc(parts, func(p part) bool { return p.leaves == 0 }), nil
}

// look takes the leaves out of some parts that are the same at this node and the peer. A slot that one of
// them cannot read takes no part.
func (c *comparison) look(ctx context.Context, parts []*part) error {
	for some := range slices.Chunk(parts, repairSlots) {
		slots := make([]uint16, len(some))
		for i, p := range some {
			slots[i] = p.slot
		}
		theirs, err := c.peer.leaves(ctx, slots)
		if err != nil {
			return err
		}
		for _, p := range some {
			mine, err := c.node.slotLeaves(p.slot)
			if err != nil {
				c.node.unreadable(p.slot, err)
			}
			other := theirs[p.slot]
			if err != nil || other == nil {
				p.leaves = 0
				c.progress.Unreadable.Add(1)
				continue
			}
			p.leaves &= mine.Differing(other)
		}
	}
	return nil
}

// askFor returns the request for the records of some parts, from the first one on.
func askFor(parts []part) protocol.ScanRequest {
	request := protocol.ScanRequest{From: protocol.NewPlace(parts[0].slot, 0), Limit: repairPage}
	whole := true
	for _, p := range parts {
		request.Slots, request.Leaves = append(request.Slots, p.slot), append(request.Leaves, p.leaves)
		whole = whole && p.leaves == protocol.AllLeaves
	}
	if whole { // which a peer understands that does not know leaves
		request.Leaves = nil
	}
	return request
}

// leaves asks a peer for the leaves of slots. Those that it cannot read are missing.
func (p *peer) leaves(ctx context.Context, slots []uint16) (map[uint16]*engine.Leaves, error) {
	payload, err := p.ask(ctx, protocol.MethodLeaves, protocol.AppendSlots(nil, slots))
	if err != nil {
		return nil, err
	}
	list, err := protocol.DecodeLeaves(payload)
	if err != nil {
		return nil, err
	}
	leaves := make(map[uint16]*engine.Leaves, len(list))
	for i := range list {
		leaves[list[i].Slot] = (*engine.Leaves)(&list[i].Leaves)
	}
	return leaves, nil
}
