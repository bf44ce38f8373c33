package route

import (
	"context"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/ring"
)

// flushBatch is how many slots are cleared at a time.
const flushBatch = 1024

// FlushAll implements Cluster: every slot that holds something is cleared by one
// write of its home. A slot of which a majority holds nothing needs no clear.
func (c *Coordinator) FlushAll(ctx context.Context, kept ...[]byte) error {
	spared := make(map[uint16]bool, len(kept))
	for _, key := range kept {
		spared[ring.SlotOf(key)] = true
	}
	view, counts, err := c.slotCounts(ctx)
	if err != nil {
		return err
	}
	b := new(Batch)
	args := [][]byte{[]byte("clear")}
	for slot := range uint16(ring.Slots) {
		n, agreed := agreedCount(view, slot, counts)
		switch holds := !agreed || n.Live > 0; {
		case holds && spared[slot]:
			if err := c.deleteKeys(ctx, slot); err != nil {
				return err
			}
		case holds:
			i := b.Add(command.Request{Op: command.OpClear, Args: args}, true)
			b.Ops[i].keyless, b.Ops[i].slot = true, slot
		}
		if len(b.Ops) == flushBatch || slot == ring.Slots-1 {
			if err := c.clearSlots(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteKeys deletes the keys of clients in a slot, those of all databases: nodes say of Quoll's own that they are gone.
func (c *Coordinator) deleteKeys(ctx context.Context, slot uint16) error {
	b := new(Batch)
	for from := protocol.NewPlace(slot, 0); from.Slot() == slot; {
		entries, next, err := c.scan(ctx, 0, from, flushBatch)
		if err != nil {
			return err
		}
		for i := range entries {
			if ring.SlotOf(entries[i].Key) == slot {
				b.Add(command.Request{Op: command.OpFlushKey, Args: [][]byte{[]byte("flushkey"), entries[i].Key}}, true)
			}
		}
		if err := c.clearSlots(b); err != nil {
			return err
		}
		from = next
	}
	return nil
}

// clearSlots executes what clears slots, or deletes keys.
func (c *Coordinator) clearSlots(b *Batch) error {
	defer b.Reset()
	c.Execute(b)
	for i := range b.Ops {
		if b.Ops[i].Outcome != answer.Done {
			return errPartlyFlushed
		}
	}
	return nil
}
