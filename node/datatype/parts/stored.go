package parts

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// What a store keeps of a map in one piece is a node. A leaf is too small for that: it is kept with the node above it, a page, about as long as
// a block of a disk. So the parts of a map (record.Parted) are the nodes above the leaves, or its one leaf:
//
//	leaf:  0, how many items there are, and the items
//	page:  1, and of each leaf: its position, how many items it has, and the items with their length
//	above: 2, and of each node below: its position, how many items it has, and their length
//
// All numbers are uvarints.
const (
	kindLeaf  = 0
	kindPage  = 1
	kindAbove = 2
)

// errPart says that a part is not what AppendPart makes of one.
var errPart = errors.New("parts: not a part of a map")

// Root implements record.Parted. An empty map, which is no object of a key, has none.
func (m *Map) Root() record.Part {
	root := m.frozenRoot()
	if root == nil {
		return nil
	}
	return root
}

// Stored implements record.Part.
func (n *node) Stored() *record.Place { return &n.stored }

// Parts implements record.Part.
func (n *node) Parts() int {
	if n.kids == nil || n.page() {
		return 0
	}
	return len(n.kids)
}

// Part implements record.Part.
func (n *node) Part(i int) record.Part { return n.kids[i].node }

// AppendPart implements record.Part.
func (n *node) AppendPart(dst []byte) []byte {
	switch {
	case n.kids == nil:
		dst = binary.AppendUvarint(append(dst, kindLeaf), uint64(n.count))
		return buffer.Append(dst, n.packed)
	case n.page():
		dst = append(dst, kindPage)
		for _, k := range n.kids {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, k.low), uint64(k.node.count))
			dst = AppendLengthened(dst, k.node.packed)
		}
		return dst
	}
	dst = append(dst, kindAbove)
	for _, k := range n.kids {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, k.low), uint64(k.node.count))
		dst = binary.AppendUvarint(dst, uint64(k.node.size))
	}
	return dst
}

// AssembleMap makes the map whose root a store keeps at a place, and notes in its parts where they are. An error is one of read, or says that what
// was read is no map.
func AssembleMap(root record.Place, read record.ReadPart) (*Map, error) {
	n, err := assemble(root, read, deepest)
	if err != nil {
		return nil, err
	}
	return newMap(n), nil
}

// deepest is more levels than a map can have.
const deepest = 16

func assemble(at record.Place, read record.ReadPart, levels int) (*node, error) {
	content, below, err := read(at)
	if err != nil {
		return nil, err
	}
	if len(content) == 0 || levels == 0 {
		return nil, errPart
	}
	var n *node
	switch d := (decoder{content[1:]}); content[0] {
	case kindLeaf:
		if count := d.uvarint(); d.rest != nil {
			n = newLeaf(d.rest, int(count))
		}
	case kindPage:
		n = d.page()
	case kindAbove:
		if n, err = d.above(below, read, levels-1); err != nil {
			return nil, err
		}
	}
	if n == nil {
		return nil, errPart
	}
	n.stored = at
	return n, nil
}

// decoder reads a part. After an error rest is nil.
type decoder struct{ rest []byte }

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.rest = nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// page reads the leaves of a page, which keep what is read.
func (d *decoder) page() *node {
	var kids []child
	for len(d.rest) > 0 {
		low, count := d.uvarint(), d.uvarint()
		packed, end, ok := Lengthened(d.rest, 0)
		if !ok || len(packed) == 0 {
			return nil
		}
		d.rest = d.rest[end:]
		kids = append(kids, child{low, newLeaf(packed, int(count))})
	}
	if len(kids) == 0 {
		return nil
	}
	return newInner(kids)
}

// above reads a node above others, and those.
func (d *decoder) above(below []record.Place, read record.ReadPart, levels int) (*node, error) {
	if len(below) == 0 {
		return nil, errPart
	}
	kids := make([]child, len(below))
	for i, at := range below {
		low, count, size := d.uvarint(), d.uvarint(), d.uvarint()
		n, err := assemble(at, read, levels)
		if err != nil {
			return nil, err
		}
		if d.rest == nil || uint64(n.count) != count || uint64(n.size) != size {
			return nil, fmt.Errorf("%w: what is below is something else", errPart)
		}
		kids[i] = child{low, n}
	}
	return newInner(kids), nil
}
