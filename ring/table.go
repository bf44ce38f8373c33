package ring

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/prefetch"
)

// Assignment is who holds a slot.
type Assignment struct {
	// Epoch is the version of the ring in which the slot changed last. It is the epoch that replicas of the slot know (rule R1
	// in node/register/protocol.md).
	Epoch uint64
	// Replicas are the members that hold the slot, the preferred home first, then in the order in which they should take over.
	Replicas []uint16
	// Next is nil, or the members that the slot moves to: while it is there the slot is joint, and every quorum is one of both (R16).
	Next []uint16
}

// Table maps every slot to the members that hold it. It is immutable and safe for
// concurrent use. Plan makes the first one of a cluster.
type Table struct {
	version uint64
	// stride is how far the replicas of one slot are from those of the next, and sizes how many a slot has, nil if all have as many.
	stride   int
	replicas []uint16
	sizes    []uint8
	epochs   []uint64
	next     map[uint16][]uint16 // of joint slots,
	members  map[uint16][]uint16 // and all their members, old and new
	counts   []slotCount         // by member ID
}

type slotCount struct{ home, replica int }

// NewTable returns the table of a version of the ring, in which slot i is assigned as slots[i] says. It copies what it is given. The error
// names the slot whose assignment makes no sense, and wraps ErrInvalid.
func NewTable(version uint64, slots []Assignment) (*Table, error) {
	if len(slots) != Slots {
		return nil, fmt.Errorf("%w: %d slots, there are %d", ErrInvalid, len(slots), Slots)
	}
	stride := 0
	for number, a := range slots {
		if err := a.check(version); err != nil {
			return nil, fmt.Errorf("%w: slot %d %w", ErrInvalid, number, err)
		}
		stride = max(stride, len(a.Replicas))
	}
	t := &Table{version: version, stride: stride, replicas: make([]uint16, Slots*stride), sizes: make([]uint8, Slots), epochs: make([]uint64, Slots),
		next: make(map[uint16][]uint16), members: make(map[uint16][]uint16)}
	for number, a := range slots {
		copy(t.replicas[number*stride:], a.Replicas)
		t.sizes[number], t.epochs[number] = uint8(len(a.Replicas)), a.Epoch
		if a.Next != nil {
			t.next[uint16(number)], t.members[uint16(number)] = slices.Clone(a.Next), a.members()
		}
	}
	t.finish()
	return t, nil
}

// members returns the replicas, and behind them those that are only to be replicas.
func (a Assignment) members() []uint16 {
	all := slices.Clone(a.Replicas)
	for _, id := range a.Next {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// check returns what is wrong with an assignment, as the rest of a sentence.
func (a Assignment) check(version uint64) error {
	if a.Epoch == 0 || a.Epoch > version {
		return fmt.Errorf("has epoch %d in version %d of the ring", a.Epoch, version)
	}
	if err := checkIDs(a.Replicas); err != nil {
		return err
	}
	if a.Next != nil {
		return checkIDs(a.Next)
	}
	return nil
}

func checkIDs(ids []uint16) error {
	if len(ids) == 0 || len(ids) > MaxReplicas {
		return fmt.Errorf("has %d replicas, want 1 to %d", len(ids), MaxReplicas)
	}
	for i, id := range ids {
		if id == 0 || slices.Contains(ids[:i], id) {
			return fmt.Errorf("has impossible replicas: %v", ids)
		}
	}
	return nil
}

// newTable returns a table in which no slot is joint and all are of one epoch, with as many replicas each. It takes ownership of replicas.
func newTable(epoch uint64, width int, replicas []uint16) *Table {
	t := &Table{version: epoch, stride: width, replicas: replicas, epochs: make([]uint64, Slots)}
	for number := range t.epochs {
		t.epochs[number] = epoch
	}
	t.finish()
	return t
}

// finish computes what follows from the assignments.
func (t *Table) finish() {
	if !slices.ContainsFunc(t.sizes, func(n uint8) bool { return int(n) != t.stride }) {
		t.sizes = nil
	}
	t.counts = make([]slotCount, int(slices.Max(t.replicas))+1)
	for number := range uint16(Slots) {
		replicas := t.Replicas(number)
		t.counts[replicas[0]].home++
		for _, id := range replicas {
			t.counts[id].replica++
		}
	}
}

// count returns how many slots a member has.
func (t *Table) count(id uint16) slotCount {
	if int(id) >= len(t.counts) {
		return slotCount{}
	}
	return t.counts[id]
}

// Version returns the version of the ring that the table is of.
func (t *Table) Version() uint64 { return t.version }

// Epoch returns the version in which the slot changed last: see Assignment.
func (t *Table) Epoch(slot uint16) uint64 { return t.epochs[slot] }

// PrefetchEpoch brings near what Epoch reads, and PrefetchReplicas what Replicas does, in the processor's caches. A slot that is not below Slots panics.
func (t *Table) PrefetchEpoch(slot uint16) { prefetch.Of(&t.epochs[slot]) }

// PrefetchReplicas is described at PrefetchEpoch.
func (t *Table) PrefetchReplicas(slot uint16) { prefetch.Of(&t.replicas[int(slot)*t.stride]) }

// Replicas returns the IDs of the members that hold the slot, the preferred home
// first, then in the order in which they should take over. The slice belongs to
// the table and must not be changed. It does not allocate. A slot that is not
// below Slots panics.
func (t *Table) Replicas(slot uint16) []uint16 {
	i, n := int(slot)*t.stride, t.stride
	if t.sizes != nil {
		n = int(t.sizes[slot])
	}
	return t.replicas[i : i+n : i+n]
}

// Next returns the IDs of the members that the slot moves to, nil unless it is joint. The slice belongs to the table.
func (t *Table) Next(slot uint16) []uint16 {
	if len(t.next) == 0 {
		return nil
	}
	return t.next[slot]
}

// Members returns the IDs of all that hold the slot, or are about to: Replicas, and behind them those of Next that are no replicas yet. The slice belongs
// to the table.
func (t *Table) Members(slot uint16) []uint16 {
	if t.Next(slot) == nil {
		return t.Replicas(slot)
	}
	return t.members[slot]
}

// Spare returns how many of a slot's members for which has says so may fail before they are no quorum any more: a majority of its replicas, and while it is joint
// of those that it moves to, too (R16). Below 0 so many are missing already.
func (t *Table) Spare(slot uint16, has func(id uint16) bool) int {
	spare := spareOf(t.Replicas(slot), has)
	if next := t.Next(slot); next != nil {
		return min(spare, spareOf(next, has))
	}
	return spare
}

func spareOf(ids []uint16, has func(id uint16) bool) int {
	n := -(len(ids)/2 + 1)
	for _, id := range ids {
		if has(id) {
			n++
		}
	}
	return n
}

// Joint is how many slots are on their way to other members.
func (t *Table) Joint() int { return len(t.next) }

// Assignment returns all that the table says of a slot. Its slices belong to the table.
func (t *Table) Assignment(slot uint16) Assignment {
	return Assignment{Epoch: t.Epoch(slot), Replicas: t.Replicas(slot), Next: t.Next(slot)}
}

// Contains reports whether the member holds the slot, or is about to.
func (t *Table) Contains(slot, id uint16) bool { return slices.Contains(t.Members(slot), id) }

// HomeSlots returns of how many slots the member is the preferred home.
func (t *Table) HomeSlots(id uint16) int { return t.count(id).home }

// ReplicaSlots returns how many slots the member holds. Those that it is to have one day do not count.
func (t *Table) ReplicaSlots(id uint16) int { return t.count(id).replica }

// Digest returns a number that is the same for equal tables, on every machine, and
// most probably different for others. It goes through all slots.
func (t *Table) Digest() uint64 {
	encoded := binary.BigEndian.AppendUint64(nil, t.version)
	for number := range uint16(Slots) {
		encoded = binary.BigEndian.AppendUint64(encoded, t.epochs[number])
		encoded = appendIDs(appendIDs(encoded, t.Replicas(number)), t.next[number])
	}
	return digest(encoded)
}

func appendIDs(b []byte, ids []uint16) []byte {
	b = append(b, uint8(len(ids)))
	for _, id := range ids {
		b = binary.BigEndian.AppendUint16(b, id)
	}
	return b
}
