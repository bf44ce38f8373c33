package route

import (
	"context"

	"github.com/quolldb/quoll/internal/admin"
)

// Memory implements Cluster.
func (c *Coordinator) Memory(ctx context.Context) (admin.Memory, error) {
	view := c.ring.Load()
	if view == nil {
		return admin.Memory{}, ErrNotReady
	}
	return memoryOf(c.askStatus(ctx, view).Nodes), nil
}

// memoryOf puts together what nodes say: what they evict by should be the same on all, and where it is not that of the node with the lowest limit counts.
func memoryOf(nodes []admin.NodeStatus) (all admin.Memory) {
	used, evicted := int64(0), uint64(0)
	for i := range nodes {
		m := nodes[i].Memory
		if m == nil {
			continue
		}
		used, evicted = max(used, m.Used), evicted+m.Evicted
		if all.Policy == "" || m.Limit > 0 && (all.Limit == 0 || m.Limit < all.Limit) {
			all = *m
		}
	}
	all.Used, all.Evicted = used, evicted
	return all
}
