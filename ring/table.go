package ring

import (
	"encoding/binary"
	"slices"
)

// Table maps every slot to the members that hold it. It is immutable and safe for
// concurrent use. Plan makes one.
type Table struct {
	epoch uint64
	// width is the number of replicas of every slot.
	width int
	// replicas holds the member IDs of slot s at [s*width, (s+1)*width).
	replicas []uint16
	counts   map[uint16]slotCount
	digest   uint64
}

type slotCount struct{ home, replica int }

// newTable takes ownership of replicas.
func newTable(epoch uint64, width int, replicas []uint16) *Table {
	t := &Table{epoch: epoch, width: width, replicas: replicas, counts: make(map[uint16]slotCount)}
	encoded := binary.BigEndian.AppendUint64(nil, epoch)
	encoded = binary.BigEndian.AppendUint64(encoded, uint64(width))
	for i, id := range replicas {
		encoded = binary.BigEndian.AppendUint16(encoded, id)
		n := t.counts[id]
		n.replica++
		if i%width == 0 {
			n.home++
		}
		t.counts[id] = n
	}
	t.digest = digest(encoded)
	return t
}

// Epoch returns the epoch of the cluster that the table was planned for.
func (t *Table) Epoch() uint64 { return t.epoch }

// Replicas returns the IDs of the members that hold the slot, the preferred home
// first, then in the order in which they should take over. The slice belongs to
// the table and must not be changed. It does not allocate. A slot that is not
// below Slots panics.
func (t *Table) Replicas(slot uint16) []uint16 {
	i := int(slot) * t.width
	return t.replicas[i : i+t.width : i+t.width]
}

// Contains reports whether the member holds the slot.
func (t *Table) Contains(slot, id uint16) bool { return slices.Contains(t.Replicas(slot), id) }

// HomeSlots returns of how many slots the member is the preferred home.
func (t *Table) HomeSlots(id uint16) int { return t.counts[id].home }

// ReplicaSlots returns how many slots the member holds.
func (t *Table) ReplicaSlots(id uint16) int { return t.counts[id].replica }

// Digest returns a number that is the same for equal tables, on every machine, and
// most probably different for others.
func (t *Table) Digest() uint64 { return t.digest }
