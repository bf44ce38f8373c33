package replica

import (
	"encoding/binary"
	"iter"
	"slices"
	"sync"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// View is the ring as this node knows it, once it has heard of one. It is
// immutable but for a cache.
type View struct {
	// Cluster are the members, and Lives everybody that the ring knows: whoever waits to join, and lives that are lost but named by slots, too.
	Cluster, Lives ring.Cluster
	Table          *ring.Table
	// Placements says which keys clients may use.
	Placements database.Placements
	// Self is this node's ID, 0 if the ring does not know it. No slot need name it: it may have left, or wait to join.
	Self uint16

	lives map[life]uint16 // the IDs of those that have their state

	mu      sync.Mutex
	configs map[string]*register.Config // slots with the same assignment share one
}

// life identifies a process.
type life struct {
	name       string
	generation uint64
}

// NewView returns what a document says to a member, which is this node.
func NewView(d change.Document, self uint16) (*View, error) {
	table, err := d.Table()
	if err != nil {
		return nil, err
	}
	v := ViewOf(d.Lives(), table, self)
	v.Cluster, v.Placements = d.Ring(), d.Placements
	for _, l := range d.Members {
		if l.State == change.Lost {
			delete(v.lives, life{l.Name, l.Generation})
		}
	}
	return v, nil
}

// ViewOf returns the View of a member, which is this node, on a ring with such a table.
func ViewOf(cluster ring.Cluster, table *ring.Table, self uint16) *View {
	v := &View{Cluster: cluster, Lives: cluster, Table: table, Self: self, lives: make(map[life]uint16, len(cluster.Members)), configs: make(map[string]*register.Config)}
	for _, m := range cluster.Members {
		v.lives[life{m.Name, m.Generation}] = m.ID
	}
	return v
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

// Life returns the ID of the member that a process is, with the state that it had when the ring was told of it (R19), 0 if it is none.
func (v *View) Life(m *ring.Member) uint16 {
	if m == nil {
		return 0
	}
	return v.lives[life{m.Name, m.Generation}]
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
