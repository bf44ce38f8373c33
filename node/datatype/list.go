package datatype

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// list is what a key has of elements in order, to look at: packed if they are few and short, or else in parts. Packed is how many there are, then each with its
// length before it. A list without elements does not exist.
type list struct {
	packed []byte
	parts  *parts.Sequence // nil: packed
}

// A list with more elements or bytes is in parts. Fewer are about what Redis has in one piece (list-max-listpack-size).
const (
	packedElements = 128
	packedListSize = 8 << 10
)

// listVerbs are the verbs of lists.
var listVerbs = verbs{
	valid: func(packed []byte) bool { _, ok := parts.UnpackSequence(packed); return ok },
	live:  liveList,
	build: func(size int) record.Builder { return listBuilder{parts.NewSequenceBuilder(size)} },
	assemble: func(root record.Place, from record.Source) (record.Object, error) {
		return parts.AssembleSequence(root, from)
	},
	longest: longestCollection,
	delta:   deltaElements, apply: applyElements,
}

// liveList is the verb live of lists.
func liveList(packed []byte) record.Object {
	if s := (list{packed: packed}).settled().parts; s != nil {
		return s
	}
	return nil
}

// listBuilder builds a list that is in parts.
type listBuilder struct{ *parts.SequenceBuilder }

// State implements record.Builder.
func (b listBuilder) State() (record.State, error) {
	s, err := b.Sequence()
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	if isPackedList(s.Len(), s.Size()) {
		return record.State{}, fmt.Errorf("%w: a list of %d elements and %d bytes is packed", ErrBuild, s.Len(), s.Size())
	}
	return record.State{Type: record.List, Object: s}, nil
}

// listIn returns the list that a state has, or an empty one.
func listIn(st record.State) list {
	s, _ := st.Object.(*parts.Sequence)
	return list{st.Value, s}
}

// state returns the state of a key with the list.
func (l list) state(expireAt int64) record.State {
	if l.parts != nil {
		return record.State{Type: record.List, ExpireAt: expireAt, Object: l.parts}
	}
	return record.State{Type: record.List, ExpireAt: expireAt, Value: l.packed}
}

// count returns how many elements there are.
func (l list) count() int {
	if l.parts != nil {
		return l.parts.Len()
	}
	n, size := binary.Uvarint(l.packed)
	if size <= 0 || n > uint64(len(l.packed)) {
		return 0
	}
	return int(n)
}

// size returns how many bytes the list has when it is packed.
func (l list) size() int {
	if l.parts != nil {
		return l.parts.Size()
	}
	return len(l.packed)
}

// head returns where the first element of a packed list begins.
func (l list) head() int {
	_, size := binary.Uvarint(l.packed)
	return max(size, 0)
}

// skip returns where, in a packed list, the element of a rank begins, or the end of the list. at is where that of another rank does, which is no higher.
func (l list) skip(at, other, rank int) int {
	if rank == l.count() {
		return len(l.packed)
	}
	for range rank - other {
		_, at, _ = parts.Lengthened(l.packed, at)
	}
	return at
}

// at returns the element of a rank, which there is.
func (l list) at(rank int) []byte {
	if l.parts != nil {
		return l.parts.At(rank)
	}
	element, _, _ := parts.Lengthened(l.packed, l.skip(l.head(), 0, rank))
	return element
}

// from goes through the elements from a rank on.
func (l list) from(rank int) iter.Seq[[]byte] {
	if l.parts != nil {
		return l.parts.From(rank)
	}
	return func(yield func([]byte) bool) {
		for at := l.skip(l.head(), 0, rank); at < len(l.packed); {
			element, end, ok := parts.Lengthened(l.packed, at)
			if !ok || !yield(element) {
				return
			}
			at = end
		}
	}
}

// back goes through the elements from the last one to the first one.
func (l list) back() iter.Seq[[]byte] {
	if l.parts != nil {
		return l.parts.Back(l.count() - 1)
	}
	return func(yield func([]byte) bool) {
		var room [packedElements][]byte
		all := room[:0]
		for element := range l.from(0) {
			all = append(all, element)
		}
		for i := len(all) - 1; i >= 0 && yield(all[i]); i-- {
		}
	}
}

// isPackedList reports whether a list of so many elements and bytes is packed. Nothing else decides about the form.
func isPackedList(count, size int) bool { return count <= packedElements && size <= packedListSize }

// settled returns the list in the form that suits its size.
func (l list) settled() list {
	if isPackedList(l.count(), l.size()) {
		return l.pack()
	}
	if l.parts == nil {
		if s, ok := parts.UnpackSequence(l.packed); ok {
			return list{parts: s}
		}
	}
	return l
}

// pack returns the list packed.
func (l list) pack() list {
	if l.parts == nil {
		return l
	}
	return list{packed: l.parts.AppendTo(make([]byte, 0, l.parts.Size()))}
}
