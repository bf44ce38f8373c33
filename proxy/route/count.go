package route

import (
	"context"
	"slices"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// DBSize implements Cluster.
func (c *Coordinator) DBSize(ctx context.Context, number int) (int64, error) {
	id, err := c.open(number)
	switch {
	case err != nil:
		return 0, err
	case id.Together():
		n, err := c.countSlot(ctx, protocol.OfDatabase(id), ring.SlotOfDatabase(id))
		return int64(n.Live), err
	}
	sizes, err := c.sizes(ctx, id > 0)
	return sizes[id], err
}

// DBSizes implements Cluster.
func (c *Coordinator) DBSizes(ctx context.Context) (sizes [database.Count]int64, err error) {
	all, err := c.sizes(ctx, true)
	for number := range sizes {
		sizes[number] = all[c.Placements().ID(number)]
	}
	return sizes, err
}

// sizes counts the keys of the databases, those above 0 if others is set. It takes the number for each slot that a majority of replicas holds the same records of,
// and scans the other slots. Nodes only know how many keys are of other databases than 0, so these are scanned.
func (c *Coordinator) sizes(ctx context.Context, others bool) (sizes [database.IDs]int64, err error) {
	view, counts, err := c.slotCounts(ctx)
	if err != nil {
		return sizes, err
	}
	all := int64(0)
	for slot := range uint16(ring.Slots) {
		n, agreed := agreedCount(view, slot, counts)
		if !agreed {
			if n, err = c.countSlot(ctx, 0, slot); err != nil {
				return sizes, err
			}
		}
		sizes[0] += int64(n.Live - n.Others)
		all += int64(n.Others)
	}
	if !others || all == 0 {
		return sizes, nil
	}
	return sizes, c.countOthers(ctx, &sizes)
}

// slotCount is what one node holds, by slot; changed are those of which it tells nothing, for others hold them since.
type slotCount struct {
	slots   [ring.Slots]protocol.SlotCount
	changed ring.SlotSet
}

// slotCounts returns what the nodes hold, and the ring in which a majority of each slot's members told it.
func (c *Coordinator) slotCounts(ctx context.Context) (view *ringView, counts *everybody[*slotCount], err error) {
	if c.ring.Load() == nil {
		return nil, nil, ErrNotReady
	}
	err = c.asOfOneRing(ctx, func(now *ringView) (changing bool, err error) {
		view = now
		counts = askAll(ctx, c, view, protocol.MethodStats, func(version uint64) []byte { return protocol.AppendVersion(nil, version) }, decodeCounts)
		for slot := range uint16(ring.Slots) {
			if !counts.most(view, slot, func(node int) bool { return tells(counts, node, slot) }) {
				return counts.changing || anyChanged(counts), ErrNoMajority
			}
		}
		return false, nil
	})
	return view, counts, err
}

func decodeCounts(payload []byte) (*slotCount, error) {
	list, changed, err := protocol.DecodeSlotCounts(payload)
	if err != nil {
		return nil, err
	}
	counts := new(slotCount)
	for _, n := range list {
		counts.slots[n.Slot%ring.Slots] = n
	}
	for _, slot := range changed {
		counts.changed.Add(slot % ring.Slots)
	}
	return counts, nil
}

// tells reports whether a node that answered tells something of a slot.
func tells(counts *everybody[*slotCount], node int, slot uint16) bool {
	return !(*counts.answers[node]).changed.Has(slot)
}

func anyChanged(counts *everybody[*slotCount]) bool {
	return slices.ContainsFunc(counts.answers, func(n **slotCount) bool { return n != nil && (*n).changed != ring.SlotSet{} })
}

// agreedCount returns the numbers of live records of a slot if a majority of its
// replicas holds the same ones, and while it is joint one of those that it moves to, too.
func agreedCount(view *ringView, slot uint16, counts *everybody[*slotCount]) (protocol.SlotCount, bool) {
	for node := range view.nodes {
		if !counts.votes(view, node, slot) || !tells(counts, node, slot) {
			continue
		}
		mine := (*counts.answers[node]).slots[slot]
		same := func(other int) bool {
			theirs := (*counts.answers[other]).slots[slot]
			return tells(counts, other, slot) && theirs.Live == mine.Live && theirs.Digest == mine.Digest
		}
		if counts.most(view, slot, same) {
			return mine, true
		}
	}
	return protocol.SlotCount{}, false
}

// scanPage is how many records a page of an internal scan has.
const scanPage = 1000

// countSlot counts the live records of a slot that are selected.
func (c *Coordinator) countSlot(ctx context.Context, of protocol.Selection, slot uint16) (n protocol.SlotCount, err error) {
	end := protocol.NewPlace(slot+1, 0)
	for at := protocol.NewPlace(slot, 0); at < end; {
		entries, next, err := c.scan(ctx, of, at, scanPage)
		if err != nil {
			return n, err
		}
		for _, e := range entries {
			if ring.SlotOf(e.Key) != slot {
				continue
			}
			n.Live++
			if id, _ := database.Split(e.Key); id > 0 {
				n.Others++
			}
		}
		at = next
	}
	return n, nil
}

// countOthers counts the keys of the databases other than 0, and of that if it is placed together.
func (c *Coordinator) countOthers(ctx context.Context, sizes *[database.IDs]int64) error {
	for at := protocol.Place(0); at < protocol.EndPlace; {
		entries, next, err := c.scan(ctx, protocol.OfOthers, at, scanPage)
		if err != nil {
			return err
		}
		for _, e := range entries {
			id, _ := database.Split(e.Key)
			sizes[id]++
		}
		at = next
	}
	return nil
}
