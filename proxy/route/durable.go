package route

import (
	"context"
	"errors"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring"
)

// ErrInMemory is returned by Durable if no node keeps anything on a disk.
var ErrInMemory = errors.New("proxy: all nodes keep their data in memory")

// Durable implements Cluster. Nodes are asked for the digests of what is durable: they write to their disks whatever they hold before they answer (What WAITAOF says, in node/register/protocol.md).
func (c *Coordinator) Durable(ctx context.Context, slots *ring.SlotSet, copies int) (least int, err error) {
	view := c.ring.Load()
	if view == nil {
		return 0, nil
	}
	kept, lost := 0, 0
	ask := func(some []uint16) count {
		said := askAll(ctx, c, view, protocol.MethodDurable, ofSlots(some), decodeDurable)
		for _, h := range said.answers {
			switch {
			case h == nil:
			case h.lost:
				lost++
			default:
				kept++
			}
		}
		return view.compare(said, durable)
	}
	if slots.Len() == 0 {
		ask(nil) // whether they keep anything
	}
	if least = leastOf(slots, copies, ask); kept == 0 && lost > 0 {
		return 0, ErrInMemory
	}
	return least, nil
}

// durable returns how many of a slot's replicas, at least, have on their disks whatever had been acknowledged before the first of some digests was taken, each of another replica and of what is durable
// there. A majority held it, so those of them that have answered do; and if as many as a majority say the same, all of these.
func durable(replicas int, moves bool, digests []uint64) int {
	majority := quorum.Majority(replicas)
	certain := max(0, majority-(replicas-len(digests)))
	if equal := mostEqual(digests); equal >= majority && !moves {
		return equal
	}
	return certain
}

func decodeDurable(payload []byte) (holdings, error) {
	h := holdings{digests: map[uint16]protocol.SlotDigest{}}
	keeps, err := protocol.DecodeDurable(payload, h.add)
	h.lost = keeps == protocol.InMemory
	return h, err
}
