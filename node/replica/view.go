package replica

import (
	"encoding/binary"
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
	configs map[string]*register.Config // slots with the same assignment share one
}

// NewView plans the ring for a member, which is this node.
func NewView(cluster ring.Cluster, name string) (*View, error) {
	table, err := ring.Plan(cluster)
	if err != nil {
		return nil, err
	}
	self, _ := cluster.ByName(name)
	return ViewOf(cluster, table, self.ID), nil
}

// ViewOf returns the View of a member, which is this node, on a ring with such a table.
func ViewOf(cluster ring.Cluster, table *ring.Table, self uint16) *View {
	return &View{Cluster: cluster, Table: table, Self: self, configs: make(map[string]*register.Config)}
}

// Knows reports whether somebody who knows a version of the ring, no higher than this one, knows who holds the slot.
func (v *View) Knows(version uint64, slot uint16) bool {
	return version == v.Table.Version() || v.Table.Epoch(slot) <= version
}

// Joins reports whether this node comes to a slot: it is to hold it, and no majority counts on what it held before (R17). It is no member of those whose quorums
// have what was acknowledged until now. One that is, also of those that are left where a loss was accepted, keeps what it has.
func (v *View) Joins(slot uint16) bool {
	next := v.Table.Next(slot)
	return next != nil && slices.Contains(next, v.Self) && !slices.Contains(v.Table.Replicas(slot), v.Self)
}

// config returns the replica set of a slot.
func (v *View) config(slot uint16) *register.Config {
	a := v.Table.Assignment(slot)
	key := binary.AppendUvarint(make([]byte, 0, 64), a.Epoch)
	for _, id := range a.Replicas {
		key = binary.BigEndian.AppendUint16(key, id)
	}
	key = append(key, 0, 0) // no member's ID
	for _, id := range a.Next {
		key = binary.BigEndian.AppendUint16(key, id)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.configs[string(key)]
	if c == nil {
		c = register.NewConfig(a.Epoch, a.Replicas, a.Next)
		v.configs[string(key)] = c
	}
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
