package route

import (
	"context"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/ring"
)

// flushBatch is how many slots are cleared at a time.
const flushBatch = 1024

// FlushAll implements Cluster: every slot that holds something is cleared by one
// write of its home. A slot of which a majority holds nothing needs no clear.
func (c *Coordinator) FlushAll(ctx context.Context) error {
	view, counts, err := c.slotCounts(ctx)
	if err != nil {
		return err
	}
	b := new(Batch)
	args := [][]byte{[]byte("clear")}
	for slot := range uint16(ring.Slots) {
		if n, agreed := agreedCount(view, slot, counts); !agreed || n.Live > 0 {
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
