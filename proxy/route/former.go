package route

import (
	"time"
)

// What becomes of what this proxy knew by an earlier version of the ring.

// formerPause is how often it is looked at whether a former member has answered all that it has.
const formerPause = 50 * time.Millisecond

// retire closes the link to a node that is no member any more, when everything has been answered that it has: an operation whose home loses its connection has no
// outcome.
func (c *Coordinator) retire(l *nodeLink) {
	c.wait.Go(func() {
		defer l.link.Close()
		ticker := time.NewTicker(formerPause)
		defer ticker.Stop()
		for c.waitsFor(l) {
			select {
			case <-ticker.C:
			case <-c.ctx.Done():
				return
			}
		}
	})
}

// waitsFor reports whether a node has something that it has not answered.
func (c *Coordinator) waitsFor(l *nodeLink) bool {
	for _, b := range c.batches.all() {
		if b.state.waitsFor(l.id) {
			return true
		}
	}
	return false
}

func (s *batchState) waitsFor(id uint16) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.ops {
		if st := &s.ops[i]; (st.phase == opReading || st.phase == opExecuting) && st.target(id) >= 0 {
			return true
		}
	}
	return false
}

// homeAfter returns who probably leads a slot in a later version of the ring, 0 for the preferred member: who led it, as long as it is a member. A home that leaves
// the slot says itself whom it is handed to, when nothing is in flight any more; to ask another one before that would take the slot from it in the middle.
func homeAfter(before, after *ringView, slot uint16) uint16 {
	home := uint16(before.homes[slot].Load())
	if before.table.Epoch(slot) == after.table.Epoch(slot) {
		return home
	}
	if home == 0 {
		home = before.table.Replicas(slot)[0]
	}
	if home == after.table.Replicas(slot)[0] || !after.table.Contains(slot, home) {
		return 0
	}
	return home
}
