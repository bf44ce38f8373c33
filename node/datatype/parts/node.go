package parts

import (
	"slices"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

const (
	// partSize is the length in bytes at which a part is split. Parts are copied for each change of one of their items, and searched one item
	// after the other.
	partSize = 1024
	// fanout is the number of nodes at which the node above them is split, pageFanout that number for leaves: what is above those is
	// stored with them, and written again when one of them has changed.
	fanout     = 32
	pageFanout = 8
	// sparse is which part of partSize a part is small with, so that it is joined with its neighbour.
	sparse = 4
)

// node is a part, or what is above some nodes. It is immutable.
type node struct {
	count, size int     // of the items, and of them packed
	packed      []byte  // of a part
	kids        []child // of what is no part
	stored      record.Place
}

// child is a node, and a position that none of its items is below, unless it is the first one of its parent.
type child struct {
	low  uint64
	node *node
}

// change is what becomes of a key.
type change struct {
	pos        uint64
	key, value []byte
	remove     bool
	found      bool // is set if the key was there
}

func newLeaf(packed []byte, count int) *node {
	return &node{count: count, size: len(packed), packed: packed}
}

func newInner(kids []child) *node {
	n := &node{kids: kids}
	for _, k := range kids {
		n.count += k.node.count
		n.size += k.node.size
	}
	return n
}

// most returns how many of these nodes may be below one.
func most(kids []child) int {
	if kids[0].node.kids == nil {
		return pageFanout
	}
	return fanout
}

// page reports whether the node, which is no leaf, is above leaves.
func (n *node) page() bool { return n.kids[0].node.kids == nil }

// low returns the position of the first item.
func (n *node) low() uint64 {
	if n.kids != nil {
		return n.kids[0].low
	}
	key, _, _, _ := Next(n.packed, 0)
	return Position(key)
}

// index returns which child a position belongs to.
func (n *node) index(pos uint64) int {
	i := len(n.kids) - 1
	for i > 0 && n.kids[i].low > pos {
		i--
	}
	return i
}

// place returns where in a part a key belongs that is not there.
func (n *node) place(c *change) int {
	for at := 0; at < len(n.packed); {
		key, _, end, _ := Next(n.packed, at)
		if p := Position(key); p > c.pos || p == c.pos && string(key) > string(c.key) {
			return at
		}
		at = end
	}
	return len(n.packed)
}

// with returns what the node becomes: itself if nothing changes, another node, two, or none.
func (n *node) with(c *change) (left, right *node) {
	if n.kids == nil {
		return n.withItem(c)
	}
	i := n.index(c.pos)
	at := n.kids[i]
	left, right = at.node.with(c)
	if left == at.node {
		return n, nil
	}
	if left != nil && right == nil && !left.small() {
		return n.withChild(i, left), nil
	}
	kids := make([]child, 0, len(n.kids)+1)
	kids = append(kids, n.kids[:i]...)
	if left != nil {
		kids = append(kids, child{at.low, left})
	}
	if right != nil {
		kids = append(kids, child{right.low(), right})
	}
	kids = append(kids, n.kids[i+1:]...)
	if left != nil && left.small() {
		kids = joined(kids, i)
	}
	return divided(kids)
}

// withChild returns the node with another child in the place of one. It looks at no other child: those are elsewhere in memory.
func (n *node) withChild(i int, other *node) *node {
	former := n.kids[i].node
	next := &node{count: n.count - former.count + other.count, size: n.size - former.size + other.size, kids: slices.Clone(n.kids)}
	next.kids[i].node = other
	return next
}

// withItem is with for a part.
func (n *node) withItem(c *change) (left, right *node) {
	_, start, end, found := Find(n.packed, 0, c.key)
	c.found = found
	count := n.count
	switch {
	case c.remove && !found:
		return n, nil
	case c.remove && count == 1:
		return nil, nil
	case c.remove:
		count--
	case !found:
		start = n.place(c)
		end = start
		count++
	}
	size := len(n.packed) - (end - start)
	if !c.remove {
		size += ItemSize(c.key, c.value)
	}
	packed := buffer.Append(make([]byte, 0, size), n.packed[:start])
	if !c.remove {
		packed = AppendItem(packed, c.key, c.value)
	}
	packed = buffer.Append(packed, n.packed[end:])
	if size <= partSize {
		return newLeaf(packed, count), nil
	}
	return halved(packed, count)
}

// halved makes two parts of what is too long for one, if the positions of its items differ. The second has memory of its own, and so has the first.
func halved(packed []byte, count int) (left, right *node) {
	var cut, first int // where the second half begins, and how many items are before it
	last := uint64(Positions)
	for at, i := 0, 0; at < len(packed); i++ {
		key, _, end, _ := Next(packed, at)
		pos := Position(key)
		if pos != last && at > 0 && (cut == 0 || at <= len(packed)/2) {
			cut, first = at, i
		}
		at, last = end, pos
	}
	if cut == 0 {
		return newLeaf(packed, count), nil
	}
	return newLeaf(buffer.Clone(packed[:cut]), first), newLeaf(buffer.Clone(packed[cut:]), count-first)
}

// divided makes one or two nodes of so many children, or none.
func divided(kids []child) (left, right *node) {
	switch n := len(kids); {
	case n == 0:
		return nil, nil
	case n <= most(kids):
		return newInner(kids), nil
	default:
		return newInner(slices.Clone(kids[:n/2])), newInner(slices.Clone(kids[n/2:]))
	}
}

// small reports whether a node should be joined with a neighbour. It is asked with every change, and looks at no other node.
func (n *node) small() bool {
	if n.kids != nil {
		return len(n.kids) < 2
	}
	return n.size < partSize/sparse
}

// joined joins a child with a neighbour, if both fit into one node.
func joined(kids []child, i int) []child {
	if i == len(kids)-1 {
		i--
	}
	if i < 0 {
		return kids
	}
	a, b := kids[i], kids[i+1]
	var both *node
	switch {
	case a.node.kids == nil && a.node.size+b.node.size <= partSize:
		both = newLeaf(slices.Concat(a.node.packed, b.node.packed), a.node.count+b.node.count)
	case a.node.kids != nil && len(a.node.kids)+len(b.node.kids) <= most(a.node.kids):
		all := slices.Concat(a.node.kids, b.node.kids)
		all[len(a.node.kids)].low = b.low // it is not the first one any more
		both = newInner(all)
	default:
		return kids
	}
	kids[i] = child{a.low, both}
	return slices.Delete(kids, i+1, i+2)
}

// ascend visits the items from a position on, and reports whether visit did not stop it.
func (n *node) ascend(pos uint64, visit func(key, value []byte) bool) bool {
	if n.kids != nil {
		for i := n.index(pos); i < len(n.kids); i++ {
			if !n.kids[i].node.ascend(pos, visit) {
				return false
			}
		}
		return true
	}
	for at := 0; at < len(n.packed); {
		key, value, end, _ := Next(n.packed, at)
		if (pos == 0 || Position(key) >= pos) && !visit(key, value) {
			return false
		}
		at = end
	}
	return true
}

// leaves visits the parts.
func (n *node) leaves(visit func([]byte) bool) bool {
	if n.kids == nil {
		return visit(n.packed)
	}
	for _, k := range n.kids {
		if !k.node.leaves(visit) {
			return false
		}
	}
	return true
}
