package node

import (
	"iter"
	"slices"
	"sync"

	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// view is the ring as this node knows it, once the cluster has formed. It is
// immutable but for a cache.
type view struct {
	cluster ring.Cluster
	table   *ring.Table
	self    uint16

	mu      sync.Mutex
	configs []*register.Config // slots with the same replicas share one
}

func newView(cluster ring.Cluster, name string) (*view, error) {
	table, err := ring.Plan(cluster)
	if err != nil {
		return nil, err
	}
	self, _ := cluster.ByName(name)
	return &view{cluster: cluster, table: table, self: self.ID}, nil
}

// config returns the replica set of a slot.
func (v *view) config(slot uint16) *register.Config {
	replicas := v.table.Replicas(slot)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.configs {
		if slices.Equal(c.Members(), replicas) {
			return c
		}
	}
	c := register.NewConfig(v.cluster.Epoch, replicas, nil)
	v.configs = append(v.configs, c)
	return c
}

// sameLife reports whether a process is the member that the ring names, with the
// state that it had then (R19).
func (v *view) sameLife(m *ring.Member) bool {
	if m == nil {
		return false
	}
	known, ok := v.cluster.ByName(m.Name)
	return ok && known.Generation == m.Generation
}

// slots returns the slots that this node holds, in ascending order.
func (v *view) slots() iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for number := range uint16(ring.Slots) {
			if v.table.Contains(number, v.self) && !yield(number) {
				return
			}
		}
	}
}
