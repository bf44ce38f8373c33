package route

import (
	"math"

	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring"
)

// Copies implements Cluster. Of a slot that moves both sets of members have a majority with it.
func (c *Coordinator) Copies() int {
	view := c.ring.Load()
	if view == nil {
		return 0
	}
	least := math.MaxInt
	for slot := range uint16(ring.Slots) {
		least = min(least, quorum.Majority(len(view.table.Replicas(slot))))
		if next := view.table.Next(slot); next != nil {
			least = min(least, quorum.Majority(len(next)))
		}
	}
	return least
}
