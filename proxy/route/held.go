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
	return leastOf(slots, copies, func(some []uint16) count {
		return view.compare(askAll(ctx, c, view, protocol.MethodDigests, ofSlots(some), decodeDigests), holding)
	})
}

// count says of a slot how many of its replicas do, and how many it has.
type count func(slot uint16) (n, replicas int)

// leastOf asks about the slots of a set, some at a time. It takes those out of which enough replicas do, or all, and returns how many do of those that are left, a huge number if none is.
func leastOf(set *ring.SlotSet, copies int, ask func(some []uint16) count) (least int) {
	var all []uint16
	for slot := range uint16(ring.Slots) {
		if set.Has(slot) {
			all = append(all, slot)
		}
	}
	least = math.MaxInt
	for some := range slices.Chunk(all, slotsAtOnce) {
		counted := ask(some)
		for _, slot := range some {
			if n, replicas := counted(slot); n >= min(copies, replicas) {
				set.Remove(slot)
			} else {
				least = min(least, n)
			}
		}
	}
	return least
}

// compare counts by the digests that nodes have sent, those that can be read, as a rule says.
func (v *ringView) compare(said *everybody[holdings], rule func(replicas int, moves bool, digests []uint64) int) count {
	var equal []uint64
	return func(slot uint16) (n, replicas int) {
		equal = equal[:0]
		members := v.table.Replicas(slot)
		for _, id := range members {
			if node := said.places[id]; node >= 0 && said.votes(v, node, slot) && !said.answers[node].lost {
				if digest := said.answers[node].digests[slot]; !digest.Unreadable && !digest.Changed {
					equal = append(equal, digest.Digest)
				}
			}
		}
		return rule(len(members), v.table.Next(slot) != nil, equal), len(members)
	}
}

// ofSlots makes the payload of a question about slots.
func ofSlots(some []uint16) func(version uint64) []byte {
	return func(version uint64) []byte { return protocol.AppendSlots(nil, version, some) }
}

// holdings are what a node holds.
type holdings struct {
	digests map[uint16]protocol.SlotDigest // of a slot that is not named it holds nothing
	lost    bool                           // once the node ends: it keeps its data in memory, and that was asked about
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

func decodeDigests(payload []byte) (holdings, error) {
	h := holdings{digests: map[uint16]protocol.SlotDigest{}}
	err := protocol.DecodeSlotDigests(payload, h.add)
	return h, err
}

func (h *holdings) add(d protocol.SlotDigest) { h.digests[d.Slot] = d }

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
