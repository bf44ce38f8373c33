package parts

import (
	"encoding/binary"
	"iter"

	"github.com/quolldb/quoll/internal/buffer"
)

// Map is an immutable map from bytes to bytes. The zero Map is empty. It may be read by anybody at any time.
type Map struct {
	root *node // nil if it is empty
}

// Len returns the number of items.
func (m *Map) Len() int {
	if m.root == nil {
		return 0
	}
	return m.root.count
}

// Size returns the length of the packed form in bytes.
func (m *Map) Size() int {
	if m.root == nil {
		return 1
	}
	return UvarintSize(m.root.count) + m.root.size
}

// Memory returns about how many bytes of memory the map takes: its parts, what the allocator rounds up, and the nodes above them.
func (m *Map) Memory() int { return m.Size() + m.Size()/4 }

// AppendTo appends the packed form.
func (m *Map) AppendTo(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(m.Len()))
	for part := range m.parts() {
		dst = buffer.Append(dst, part)
	}
	return dst
}

// Get returns the value of a key. It is not to be changed.
func (m *Map) Get(key []byte) (value []byte, found bool) {
	n, pos := m.root, Position(key)
	if n == nil {
		return nil, false
	}
	for n.kids != nil {
		n = n.kids[n.index(pos)].node
	}
	value, _, _, found = Find(n.packed, 0, key)
	return value, found
}

// At returns the item of a rank, from 0 to Len-1, in the order of the map.
func (m *Map) At(rank int) (key, value []byte) {
	n := m.root
	for n.kids != nil {
		i := 0
		for ; rank >= n.kids[i].node.count; i++ {
			rank -= n.kids[i].node.count
		}
		n = n.kids[i].node
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
		if m.root != nil {
			m.root.ascend(pos, yield)
		}
	}
}

// parts goes through the parts.
func (m *Map) parts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if m.root != nil {
			m.root.leaves(yield)
		}
	}
}

// Set returns a map in which a key has a value, and whether the key was there before. Key and value are copied.
func (m *Map) Set(key, value []byte) (next *Map, found bool) {
	return m.with(&change{pos: Position(key), key: key, value: value})
}

// Remove returns a map without a key, and whether the key was there. If it was not, that is the map itself.
func (m *Map) Remove(key []byte) (next *Map, found bool) {
	return m.with(&change{pos: Position(key), key: key, remove: true})
}

func (m *Map) with(c *change) (next *Map, found bool) {
	if m.root == nil {
		if c.remove {
			return m, false
		}
		return &Map{newLeaf(AppendItem(nil, c.key, c.value), 1)}, false
	}
	left, right := m.root.with(c)
	if left == m.root {
		return m, c.found
	}
	if right != nil {
		left = newInner([]child{{0, left}, {right.low(), right}})
	}
	for left != nil && len(left.kids) == 1 {
		left = left.kids[0].node
	}
	return &Map{left}, c.found
}
