package route

import (
	"context"
	"math"
	"slices"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring"
)

// slotsAtOnce is how many slots a node is asked about at a time, while it does nothing else.
const slotsAtOnce = 1024

// Held implements Cluster. Replicas say what they hold of a slot in one number, its digest, as they do to be compared with each other. Of a majority that says the same, at least one holds any
// write that had been acknowledged, or what came after it on its key, and the others have the same (What WAIT says, in node/register/protocol.md).
func (c *Coordinator) Held(ctx context.Context, slots *ring.SlotSet, copies int) (least int) {
	view := c.ring.Load()
	if view == nil {
		return 0
	}
	var all []uint16
	for slot := range uint16(ring.Slots) {
		if slots.Has(slot) {
			all = append(all, slot)
		}
	}
	least = math.MaxInt
	for some := range slices.Chunk(all, slotsAtOnce) {
		least = min(least, c.heldOf(ctx, view, slots, some, copies))
	}
	return least
}

// heldOf is Held for some slots of the set.
func (c *Coordinator) heldOf(ctx context.Context, view *ringView, set *ring.SlotSet, some []uint16, copies int) (least int) {
	least = math.MaxInt
	said := askAll(ctx, c, view, protocol.MethodDigests, func(version uint64) []byte { return protocol.AppendSlots(nil, version, some) }, decodeDigests)
	var digests []uint64
	for _, slot := range some {
		digests = digests[:0]
		replicas := view.table.Replicas(slot)
		for _, id := range replicas {
			if node := said.places[id]; node >= 0 && said.votes(view, node, slot) {
				if digest := (*said.answers[node])[slot]; !digest.Unreadable && !digest.Changed {
					digests = append(digests, digest.Digest)
				}
			}
		}
		n := holding(len(replicas), view.table.Next(slot) != nil, digests)
		if n >= min(copies, len(replicas)) {
			set.Remove(slot)
			continue
		}
		least = min(least, n)
	}
	return least
}

// holding returns how many of a slot's replicas, at least, hold whatever had been acknowledged before the first of some digests was taken, each of another replica: as many as say the same, if they
// are a majority. A majority does in any case. What a slot that moves is compared with may have yet to be collected.
func holding(replicas int, moves bool, digests []uint64) int {
	certain := quorum.Majority(replicas)
	if moves {
		return certain
	}
	return max(certain, mostEqual(digests))
}

// decodeDigests returns what a node holds, by slot. Of a slot that is not named it holds nothing.
func decodeDigests(payload []byte) (map[uint16]protocol.SlotDigest, error) {
	digests := map[uint16]protocol.SlotDigest{}
	err := protocol.DecodeSlotDigests(payload, func(d protocol.SlotDigest) { digests[d.Slot] = d })
	return digests, err
}

// mostEqual returns how many of some numbers, a handful, are the same, of those of which there are most.
func mostEqual(numbers []uint64) (most int) {
	for _, a := range numbers {
		n := 0
		for _, b := range numbers {
			if a == b {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
