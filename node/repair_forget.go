package node

import (
	"context"
	"slices"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
)

// A deletion is forgotten when the home that wrote it has heard of all replicas that they hold it
// (R13). It waits for a second. Should one of them be slower, or the home lose its term, then all
// replicas come to hold the same, no comparison finds anything, and they would remember it for ever. So a
// home deletes once more what stays deleted while all replicas are there.

// forget lets homes delete again what this node holds as deleted, and still does a moment later.
func (c *comparison) forget(ctx context.Context) error {
	for some := range slices.Chunk(c.remembering(), repairPage) {
		for from, end := protocol.NewPlace(some[0], 0), protocol.NewPlace(some[len(some)-1]+1, 0); from < end; {
			page, err := c.node.scan(c.view, protocol.ScanRequest{From: from, Limit: repairPage, Slots: some})
			if err != nil {
				return err
			}
			if err := c.deleteAgain(ctx, before(page.Entries, end)); err != nil {
				return err
			}
			from = page.Next
		}
	}
	return nil
}

// remembering returns the slots with deletions that this node is responsible for, and all of
// whose replicas could acknowledge that they are gone.
func (c *comparison) remembering() (slots []uint16) {
	for i := int(c.request.First); i <= int(c.request.Last); i++ {
		number := uint16(i)
		if c.view.table.Contains(number, c.view.self) && c.remembers(number) {
			slots = append(slots, number)
		}
	}
	return slots
}

func (c *comparison) remembers(number uint16) bool {
	n := c.node
	st := n.lock(number, nil)
	defer st.unlock()
	if !n.responsible(c.view, st, number) {
		return false
	}
	stats, err := n.engine.Stats(number)
	if err != nil {
		st.unreadable(number, err)
	}
	return stats.Tombstones > 0 && !slices.ContainsFunc(c.view.table.Replicas(number), func(id uint16) bool {
		p := n.peerOf(id)
		return p != nil && (!p.alive() || p.full())
	})
}

// deleteAgain waits a moment and gives the deletions among some entries, that are still what they
// were, to their homes.
func (c *comparison) deleteAgain(ctx context.Context, entries []protocol.ScanEntry) error {
	entries = slices.DeleteFunc(entries, func(e protocol.ScanEntry) bool { return e.Type != record.None })
	if len(entries) == 0 {
		return nil
	}
	if !sleep(ctx, c.settling) {
		return ctx.Err()
	}
	for i := range entries {
		err := c.deleteOne(&entries[i])
		if c.keys++; err == nil && c.keys >= repairKeys {
			err = c.pause(ctx)
		}
		if err != nil {
			return err
		}
	}
	return c.pause(ctx)
}

func (c *comparison) deleteOne(e *protocol.ScanEntry) error {
	n, number := c.node, e.Place.Slot()
	out := n.getOutbox()
	defer out.flush()
	st := n.lock(number, out)
	defer st.unlock()
	if !n.responsible(c.view, st, number) {
		return nil
	}
	rec, present, err := n.engine.Get(number, e.Key)
	if err != nil {
		st.unreadable(number, err)
		return err
	}
	if present && !rec.State.Live() && rec.Version == e.Version {
		n.chore(&c.chores, st, number, opExpire, e.Key)
	}
	return nil
}
