package route

import (
	"context"
	"slices"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring"
)

// DBSize implements Cluster: it takes the number for each slot that a majority of
// replicas holds the same records of, and scans the others.
func (c *Coordinator) DBSize(ctx context.Context) (int64, error) {
	view := c.ring.Load()
	if view == nil {
		return 0, ErrNotReady
	}
	counts, err := c.slotCounts(ctx, view)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for slot := range uint16(ring.Slots) {
		n, agreed := agreedCount(view, slot, counts)
		if !agreed {
			if n, err = c.countSlot(ctx, view, slot); err != nil {
				return 0, err
			}
		}
		total += n
	}
	return total, nil
}

// slotCount is what one node holds, by slot.
type slotCount [ring.Slots]protocol.SlotCount

func (c *Coordinator) slotCounts(ctx context.Context, view *ringView) ([]*slotCount, error) {
	answers := askAll(ctx, c, view, protocol.MethodStats, nil, func(payload []byte) (*slotCount, error) {
		list, err := protocol.DecodeSlotCounts(payload)
		if err != nil {
			return nil, err
		}
		counts := new(slotCount)
		for _, n := range list {
			counts[n.Slot%ring.Slots] = n
		}
		return counts, nil
	})
	counts := make([]*slotCount, len(answers))
	for i, a := range answers {
		if a != nil {
			counts[i] = *a
		}
	}
	for slot := range uint16(ring.Slots) {
		if !covered(view, slot, counts) {
			return nil, ErrNoMajority
		}
	}
	return counts, nil
}

// agreedCount returns the number of live records of a slot if a majority of its
// replicas holds the same ones.
func agreedCount(view *ringView, slot uint16, counts []*slotCount) (int64, bool) {
	if view.table.Next(slot) != nil { // that would need two
		return 0, false
	}
	replicas := view.table.Replicas(slot)
	for i, l := range view.nodes {
		if counts[i] == nil || !slices.Contains(replicas, l.id) {
			continue
		}
		mine, same := counts[i][slot], 0
		for j, other := range view.nodes {
			if counts[j] != nil && slices.Contains(replicas, other.id) {
				if theirs := counts[j][slot]; theirs.Live == mine.Live && theirs.Digest == mine.Digest {
					same++
				}
			}
		}
		if same >= quorum.Majority(len(replicas)) {
			return int64(mine.Live), true
		}
	}
	return 0, false
}

// scanPage is how many records a page of an internal scan has.
const scanPage = 1000

func (c *Coordinator) countSlot(ctx context.Context, view *ringView, slot uint16) (int64, error) {
	n := int64(0)
	end := protocol.NewPlace(slot+1, 0)
	for at := protocol.NewPlace(slot, 0); at < end; {
		entries, next, err := c.scan(ctx, view, at, scanPage)
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			if ring.SlotOf(e.Key) == slot {
				n++
			}
		}
		at = next
	}
	return n, nil
}
