package repair

import (
	"context"
	"slices"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
)

// A deletion is forgotten when the home that wrote it has heard of all replicas that they hold it
// (R13). It waits for a second. Should one of them be slower, or the home lose its term, then all
// replicas come to hold the same, no comparison finds anything, and they would remember it for ever. So a
// home deletes once more what stays deleted while all replicas are there. In a joint epoch nothing is forgotten.

// forget lets homes delete again what this node holds as deleted, and still does a moment later.
func (c *comparison) forget(ctx context.Context) error {
	for some := range slices.Chunk(c.remembering(), repairPage) {
		for from, end := protocol.NewPlace(some[0], 0), protocol.NewPlace(some[len(some)-1]+1, 0); from < end; {
			page, err := c.node.List(protocol.ScanRequest{Version: c.table.Version(), From: from, Limit: repairPage, Slots: some})
			if err != nil && c.changed(from.Slot()) {
				from = protocol.NewPlace(from.Slot()+1, 0)
				continue
			}
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
		if c.compares(number) && c.remembers(number) {
			slots = append(slots, number)
		}
	}
	return slots
}

func (c *comparison) remembers(number uint16) bool {
	deletions, err := c.deletions(number)
	if err != nil {
		c.node.Unreadable(number, err)
	}
	if deletions == 0 {
		return false
	}
	acknowledges := 1 // this node
	for _, p := range c.node.Peers() {
		if slices.Contains(c.table.Replicas(number), p.ID()) && p.Alive() && !p.Full() {
			acknowledges++
		}
	}
	return acknowledges == len(c.table.Replicas(number)) // one of them may be no node any more
}

// deletions counts those in a slot that this node is responsible for.
func (c *comparison) deletions(number uint16) (uint64, error) {
	slots := c.node.Lock(number)
	defer slots.Unlock()
	if c.changed(number) || !slots.Responsible(number) {
		return 0, nil
	}
	stats, err := slots.Stats(number)
	return stats.Tombstones, err
}

// deleteAgain waits a moment and gives the deletions among some entries, that are still what they
// were, to their homes.
func (c *comparison) deleteAgain(ctx context.Context, entries []protocol.ScanEntry) error {
	entries = slices.DeleteFunc(entries, func(e protocol.ScanEntry) bool { return e.Type != record.None })
	if len(entries) == 0 {
		return nil
	}
	if !clock.Sleep(ctx, c.settling) {
		return ctx.Err()
	}
	for i := range entries {
		err := c.deleteOne(&entries[i])
		if err != nil {
			c.node.Unreadable(entries[i].Place.Slot(), err)
		}
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
	number := e.Place.Slot()
	slots := c.node.LockForWrites(number)
	defer slots.Unlock()
	if c.changed(number) || !slots.Responsible(number) {
		return nil
	}
	rec, present, err := slots.Get(number, e.Key)
	if err == nil && present && !rec.State.Live() && rec.Version == e.Version {
		slots.DeleteAgain(number, e.Key, c.begin())
	}
	return err
}
