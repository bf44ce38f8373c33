package parts

import (
	"encoding/binary"
	"iter"

	"github.com/quolldb/quoll/internal/buffer"
)

// Map is a map from bytes to bytes, and never changes: Set and Remove make another version of it, which shares most of the memory, or takes it over
// (see run). The zero Map is empty. It may be used by anybody at any time, but what Get returns is borrowed. Of a map that a store has, parts are
// read when they are needed (see unread). All methods but Len, Size, Memory, Root and Source may then panic with record.Unreadable, and Reader's Read returns that as an error.
type Map struct {
	count, size int // of the items, and of them packed
	// run is what the version belongs to while it, or one made of it, may be changed in place. All below is guarded by its mutex.
	run    *run
	root   *node // nil if the map is empty, or next is not nil
	frozen bool  // root is never changed
	next   *Map  // the version that took the nodes of this one over
	undo   undo  // what makes this version of next
	// origin is nil if all of the map is in memory, and what the version that came from the store had.
	origin *origin
}

// newMap returns the map with a root that is never changed.
func newMap(root *node) *Map { return &Map{count: root.count, size: root.size, root: root} }

// Len returns the number of items.
func (m *Map) Len() int { return m.count }

// Size returns the length of the packed form in bytes.
func (m *Map) Size() int { return UvarintSize(m.count) + m.size }

// Memory returns about how many bytes of memory the map takes: its parts, what the allocator rounds up, and the nodes above them. What its Source has
// been told of is not among them: what there is more than that came from.
func (m *Map) Memory() int { return memoryOf(m.Size(), m.origin) }

func memoryOf(size int, from *origin) int {
	if from != nil {
		size = max(size-from.size, 0)
	}
	return size + size/4
}

// AppendTo appends the packed form.
func (m *Map) AppendTo(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(m.Len()))
	for part := range m.parts() {
		dst = buffer.Append(dst, part)
	}
	return dst
}

// Get returns the value of a key. It is not to be changed, and good until Set or Remove is called for this version of the map, or one made of it.
func (m *Map) Get(key []byte) (value []byte, found bool) {
	if m.run != nil {
		m.run.Lock()
		defer m.run.Unlock()
	}
	n := m.root
	if m.next != nil {
		n = m.freeze()
	}
	if n == nil {
		return nil, false
	}
	value, _, _, found = n.leaf(Position(key)).find(key)
	return value, found
}

// At returns the item of a rank, from 0 to Len-1, in the order of the map.
func (m *Map) At(rank int) (key, value []byte) {
	n := m.frozenRoot().here()
	for n.kids != nil {
		i := 0
		for ; rank >= n.kids[i].node.count; i++ {
			rank -= n.kids[i].node.count
		}
		n = n.kids[i].node.here()
	}
	at := 0
	for range rank + 1 {
		key, value, at, _ = Next(n.packed, at)
	}
	return key, value
}

// All goes through the items in the order of the map.
func (m *Map) All() iter.Seq2[[]byte, []byte] { return m.From(0) }

// From is All from a position on.
func (m *Map) From(pos uint64) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if root := m.frozenRoot(); root != nil {
			root.ascend(pos, yield)
		}
	}
}

// parts goes through the parts.
func (m *Map) parts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if root := m.frozenRoot(); root != nil {
			root.leaves(yield)
		}
	}
}

// Set returns a map in which a key has a value, and whether the key was there before. Key and value are copied.
func (m *Map) Set(key, value []byte) (next *Map, found bool) {
	return m.with(change{pos: Position(key), key: key, value: value})
}

// Remove returns a map without a key, and whether the key was there. If it was not, that is the map itself.
func (m *Map) Remove(key []byte) (next *Map, found bool) {
	return m.with(change{pos: Position(key), key: key, remove: true})
}
