package parts

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// What a store keeps of a map, or a sequence, in one piece is a node. A leaf is too small for that: it is kept with the node above it, a page, about as long as
// a block of a disk. So the parts of a map (record.Parted) are the nodes above the leaves, or its one leaf:
//
//	leaf:  0, how many items there are, and the items
//	page:  1, and of each leaf: its position, how many items it has, and the items with their length
//	above: 2, and of each node below: its position, how many items it has, and their length
//
// All numbers are uvarints. In a sequence the position is how many elements there are, again.
const (
	kindLeaf  = 0
	kindPage  = 1
	kindAbove = 2
)

// errPart says that a part is not what AppendPart makes of one.
var errPart = errors.New("parts: not a part of a collection")

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
	n = n.here()
	if n.kids == nil || n.page() {
		return 0
	}
	return len(n.kids)
}

// Part implements record.Part.
func (n *node) Part(i int) record.Part { return n.here().kids[i].node }

// AppendPart implements record.Part.
func (n *node) AppendPart(dst []byte) []byte {
	n = n.here()
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

// AssembleMap makes the map whose root a store keeps at a place, and notes in its parts where they are. What is below the root is read when it is needed, unless
// the map is to be in memory as a whole. An error is one of the source.
func AssembleMap(root record.Place, from record.Source) (*Map, error) {
	n, origin, err := assemble(&unread{from: from, at: root, levels: deepest})
	if err != nil {
		return nil, err
	}
	m := newMap(n)
	m.origin = origin
	return m, nil
}

// assemble returns a root that nobody has yet, and where the rest of it is, if it is not in memory.
func assemble(root *unread) (n *node, rest *origin, err error) {
	if n, err = root.load(nil); err != nil {
		return nil, nil, err
	}
	switch {
	case n.isLeaf() || n.page(): // nothing is below it
	case root.from.Whole(n.size):
		err = n.loadBelow()
	default:
		rest = &origin{from: root.from, size: n.size}
		root.from.Kept(n.memory())
	}
	return n, rest, err
}

// deepest is more levels than a map can have.
const deepest = 16

// load reads the node, but not those below it that are stored on their own. want is what is known of it, nil for the root.
func (u *unread) load(want *node) (n *node, err error) {
	err = u.from.Read(u.at, func(content []byte, below []record.Place) error {
		if len(content) == 0 || u.levels == 0 {
			return errPart
		}
		switch d := (decoder{content[1:]}); content[0] {
		case kindLeaf:
			if count := d.uvarint(); d.rest != nil && want == nil {
				n = newPacked(d.rest, int(count))
			}
		case kindPage:
			n = d.page()
		case kindAbove:
			n = d.above(below, u)
		}
		switch {
		case n == nil || u.ranked && !n.counts():
			return errPart
		case want != nil && (n.count != want.count || n.size != want.size):
			return fmt.Errorf("%w: what is below is something else", errPart)
		}
		n.stored = u.at
		return nil
	})
	return n, err
}

// loadBelow reads what is below a node that nobody has yet.
func (n *node) loadBelow() error {
	for i, k := range n.kids {
		if k.node.unread == nil {
			continue
		}
		read, err := k.node.unread.load(k.node)
		if err == nil {
			err = read.loadBelow()
		}
		if err != nil {
			return err
		}
		n.kids[i].node = read
	}
	return nil
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
		kids = append(kids, child{low, newPacked(packed, int(count))})
	}
	if len(kids) == 0 {
		return nil
	}
	return newInner(kids)
}

// above reads a node above others, which are not read. u is what it was itself.
func (d *decoder) above(below []record.Place, u *unread) *node {
	kids := make([]child, len(below))
	for i, at := range below {
		low, count, size := d.uvarint(), d.uvarint(), d.uvarint()
		s := &stub{node{count: int(count), size: int(size), stored: at}, unread{from: u.from, at: at, levels: u.levels - 1, ranked: u.ranked}}
		s.node.unread = &s.unread
		kids[i] = child{low, &s.node}
	}
	if d.rest == nil || len(kids) == 0 {
		return nil
	}
	return newInner(kids)
}
