package route

import (
	"math"

	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring"
)

// Copies implements Cluster. Of a slot that moves both sets of members have a majority with it.
func (c *Coordinator) Copies() (certain, all int) {
	view := c.ring.Load()
	if view == nil {
		return 0, 0
	}
	certain, all = math.MaxInt, math.MaxInt
	count := func(members []uint16) {
		certain, all = min(certain, quorum.Majority(len(members))), min(all, len(members))
	}
	for slot := range uint16(ring.Slots) {
		count(view.table.Replicas(slot))
		if next := view.table.Next(slot); next != nil {
			count(next)
		}
	}
	return certain, all
}
