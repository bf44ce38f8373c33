package route

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/proxy/topology"
	"github.com/quolldb/quoll/ring"
)

// placement is which nodes serve clients, as far as that is known.
type placement struct {
	mu      sync.Mutex // of who finds out
	current atomic.Pointer[topology.Placement]
}

// serving is where a node serves clients, and where those that read from it as a replica, empty for nowhere.
type serving struct{ clients, replica string }

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
		at := l.serves.Load()
		if at == nil {
			continue
		}
		up := l.up.Load()
		p.Nodes = append(p.Nodes, topology.Node{Address: at.clients, Replica: at.replica, Alive: up})
		if up {
			index[l.id] = int16(len(p.Nodes))
		}
	}
	replicas := make([]int16, 0, 2*min(1, len(p.Nodes))*ring.Slots) // of all slots, one after the other
	for slot := range p.Homes {
		p.Homes[slot] = -1
		if len(p.Nodes) > 0 {
			first := len(replicas)
			p.Homes[slot], replicas = divide(replicas, view.table.Members(uint16(slot)), index)
			p.Replicas[slot] = replicas[first:len(replicas):len(replicas)]
		}
	}
	p.Pair()
	if !p.Same(c.placement.current.Load()) {
		c.placement.current.Store(p)
	}
}

// divide returns which node is the first of a slot's replicas that answers and serves clients, -1 if none does, and appends the others of that kind in their order. The index has by ID which node that is,
// and one more.
func divide(dst []int16, replicas []uint16, index []int16) (home int16, others []int16) {
	home, first := -1, len(dst)
	for _, id := range replicas {
		switch {
		case index[id] == 0:
		case home < 0:
			home = index[id] - 1
		default:
			dst = append(dst, index[id]-1)
		}
	}
	slices.Sort(dst[first:])
	return home, dst
}
