package replica

import (
	"iter"
	"slices"
	"sync"

	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// View is the ring as this node knows it, once the cluster has formed. It is
// immutable but for a cache.
type View struct {
	Cluster ring.Cluster
	Table   *ring.Table
	Self    uint16

	mu      sync.Mutex
	configs []*register.Config // slots with the same replicas share one
}

// NewView plans the ring for a member, which is this node.
func NewView(cluster ring.Cluster, name string) (*View, error) {
	table, err := ring.Plan(cluster)
	if err != nil {
		return nil, err
	}
	self, _ := cluster.ByName(name)
	return &View{Cluster: cluster, Table: table, Self: self.ID}, nil
}

// config returns the replica set of a slot.
func (v *View) config(slot uint16) *register.Config {
	replicas := v.Table.Replicas(slot)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.configs {
		if slices.Equal(c.Members(), replicas) {
			return c
		}
	}
	c := register.NewConfig(v.Cluster.Epoch, replicas, nil)
	v.configs = append(v.configs, c)
	return c
}

// SameLife reports whether a process is the member that the ring names, with the
// state that it had then (R19).
func (v *View) SameLife(m *ring.Member) bool {
	if m == nil {
		return false
	}
	known, ok := v.Cluster.ByName(m.Name)
	return ok && known.Generation == m.Generation
}

// Slots returns the slots that this node holds, in ascending order.
func (v *View) Slots() iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for number := range uint16(ring.Slots) {
			if v.Table.Contains(number, v.Self) && !yield(number) {
				return
			}
		}
	}
}
