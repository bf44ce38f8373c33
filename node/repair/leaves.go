package repair

import (
	"context"
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
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
		stats, err := c.repairer.stats(c.table.Version(), number)
		if err == nil && stats.Live+stats.Tombstones >= leavesFrom { // the error will be that of listing it
			large = append(large, &parts[i])
		}
	}
	for look := 0; look < leafLooks && len(large) > 0; look++ {
		if look > 0 && !clock.Sleep(ctx, c.settling/10) {
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
		theirs, err := askLeaves(ctx, c.peer, c.table.Version(), slots)
		if err != nil {
			return err
		}
		for _, p := range some {
			mine, err := c.repairer.leavesAsOf(c.table.Version(), p.slot)
			if c.changed(p.slot) {
				p.leaves = 0
				continue
			}
			if err != nil {
				c.node.Unreadable(p.slot, err)
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
func (c *comparison) askFor(parts []part) protocol.ScanRequest {
	request := protocol.ScanRequest{Version: c.table.Version(), From: protocol.NewPlace(parts[0].slot, 0), Limit: repairPage}
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
