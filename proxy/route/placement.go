package route

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/proxy/topology"
)

// placement is which nodes serve clients, as far as that is known.
type placement struct {
	mu      sync.Mutex // of who finds out
	current atomic.Pointer[topology.Placement]
}

// Placement returns which nodes serve clients, and which of them is the home of each slot, as long as all goes well; nil before the ring is known. It does not block.
func (c *Coordinator) Placement() *topology.Placement { return c.placement.current.Load() }

// place finds out the placement anew: the ring has changed, or a node answers that did not, or the other way round.
func (c *Coordinator) place() {
	c.placement.mu.Lock()
	defer c.placement.mu.Unlock()
	view := c.ring.Load()
	if view == nil {
		return
	}
	p := &topology.Placement{Since: time.Now()}
	index := make([]int16, len(view.byID)) // by ID: that of a node that answers, and one more
	for _, l := range view.nodes {
		address := l.serves.Load()
		if address == nil {
			continue
		}
		up := l.up.Load()
		p.Nodes = append(p.Nodes, topology.Node{Address: *address, Alive: up})
		if up {
			index[l.id] = int16(len(p.Nodes))
		}
	}
	for slot := range p.Homes {
		p.Homes[slot] = -1
		if len(p.Nodes) > 0 {
			p.Homes[slot] = firstOf(view.table.Members(uint16(slot)), index)
		}
	}
	if !p.Same(c.placement.current.Load()) {
		c.placement.current.Store(p)
	}
}

// firstOf returns which node is the first of a slot's replicas that answers and serves clients, -1 if none does. The index has by ID which node that is, and one more.
func firstOf(replicas []uint16, index []int16) int16 {
	for _, id := range replicas {
		if index[id] > 0 {
			return index[id] - 1
		}
	}
	return -1
}
