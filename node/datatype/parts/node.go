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

// node is a part, or what is above some nodes. Only the run that made it changes it, and not after it is frozen.
//
// The order of the fields is that of their use: what a search touches is in front.
type node struct {
	unread *unread // if it is not nil, there are no items or kids here: see unread.here
	kids   []child // of what is no part
	packed []byte  // of a part
	run    uint64

	count, size int // of the items, and of them packed
	stored      record.Place
}

// child is a node, and a position that none of its items is below, unless it is the first one of its parent. In a Sequence low is how many
// elements it has.
type child struct {
	low  uint64
	node *node
}

// change is what becomes of a key.
type change struct {
	pos        uint64
	key, value []byte
	remove     bool
	run        uint64 // nodes of this run are changed in place, and made
	keep       bool   // undo is wanted
	// What follows is set: whether the key was there, how many items and bytes there are more, and what undoes it.
	found        bool
	items, bytes int
	undo         undo
}

// most returns how many of these nodes may be below one.
func most(kids []child) int {
	if kids[0].node.isLeaf() {
		return pageFanout
	}
	return fanout
}

// isLeaf reports whether the node is a part. One that is not read is none: those are read with the page above them.
func (n *node) isLeaf() bool { return n.kids == nil && n.unread == nil }

// page reports whether the node, which is no leaf and has been read, is above leaves.
func (n *node) page() bool { return n.kids[0].node.isLeaf() }

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

// leaf returns the part that a position belongs to.
func (n *node) leaf(pos uint64) *node {
	n = n.here()
	for n.kids != nil {
		n = n.near(n.kids[n.index(pos)].node).here()
	}
	return n
}

// find looks a key up in a part.
func (n *node) find(key []byte) (value []byte, start, end int, found bool) {
	return Find(n.packed, 0, key)
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

// changed returns the root with a change, nil if nothing is left.
func (n *node) changed(c *change) *node {
	if n == nil {
		n = &node{} // a part without items
	}
	left, right := n.with(c)
	if right != nil {
		left = c.inner([]child{{0, left}, {right.low(), right}})
	}
	for left != nil && len(left.kids) == 1 {
		left = left.kids[0].node
	}
	return left
}

// with returns what the node becomes: itself, another node, two, or none. What is on the way to the item has been read: see prepare.
func (n *node) with(c *change) (left, right *node) {
	n = n.here()
	if n.kids == nil {
		return n.withItem(c)
	}
	i := n.index(c.pos)
	at := n.kids[i]
	left, right = n.near(at.node).with(c)
	if c.remove && !c.found {
		return n, nil
	}
	if left != nil && right == nil && !left.small() {
		return n.withChild(i, left, c), nil
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
		kids = c.joined(kids, i)
	}
	return c.divided(kids)
}

// withChild returns the node with another child in the place of one. It looks at no other child: those are elsewhere in memory.
func (n *node) withChild(i int, other *node, c *change) *node {
	if n.run != c.run {
		count, size := n.count, n.size
		n = innerOf(n.kids)
		n.count, n.size, n.run = count, size, c.run
	}
	n.count += c.items
	n.size += c.bytes
	if n.kids[i].node != other {
		n.kids[i].node = other
	}
	return n
}

// withItem is with for a part.
func (n *node) withItem(c *change) (left, right *node) {
	_, start, end, found := n.find(c.key)
	c.found = found
	switch {
	case c.remove && !found:
		return n, nil
	case c.remove:
		c.items = -1
	case !found:
		start = n.place(c)
		end = start
		c.items = 1
	}
	c.bytes = start - end
	if !c.remove {
		c.bytes += ItemSize(c.key, c.value)
	}
	size := len(n.packed) + c.bytes
	inPlace := n.run == c.run && size <= cap(n.packed) && size <= partSize
	if c.keep {
		c.takes(n.packed[start:end], inPlace)
	}
	if size == 0 {
		return nil, nil
	}
	packed := n.packed
	if inPlace {
		packed = spoilt(n)
		n.packed = packed[:size]
		copy(n.packed[end+c.bytes:], packed[end:])
	} else {
		count := n.count
		n = leafOf(size)
		n.count, n.run = count, c.run
		buffer.Copy(n.packed, packed[:start])
		buffer.Copy(n.packed[end+c.bytes:], packed[end:])
	}
	if !c.remove {
		AppendItem(n.packed[:start], c.key, c.value)
	}
	n.count += c.items
	n.size = size
	if size > partSize {
		return c.halved(n)
	}
	return n, nil
}

// takes notes how to undo the change of an item, or of none, which is overwritten if it is changed in place.
func (c *change) takes(item []byte, inPlace bool) {
	switch {
	case len(item) == 0:
		c.undo = undo{AppendItem(nil, c.key, nil), true}
	case inPlace:
		c.undo = undo{item: buffer.Clone(item)}
	default:
		c.undo = undo{item: item}
	}
}

// leaf, and inner, make nodes of the run of a change.
func (c *change) leaf(packed []byte, count int) *node {
	n := newLeaf(packed, count)
	n.run = c.run
	return n
}

func (c *change) inner(kids []child) *node {
	n := newInner(kids)
	n.run = c.run
	return n
}

// halved makes two parts of one that is too long, if the positions of its items differ. Both have memory of their own.
func (c *change) halved(n *node) (left, right *node) {
	packed := n.packed
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
		return n, nil
	}
	return c.leaf(packed[:cut], first), c.leaf(packed[cut:], n.count-first)
}

// divided makes one or two nodes of so many children, or none.
func (c *change) divided(kids []child) (left, right *node) {
	switch n := len(kids); {
	case n == 0:
		return nil, nil
	case n <= most(kids):
		return c.inner(kids), nil
	default:
		return c.inner(kids[:n/2]), c.inner(kids[n/2:])
	}
}

// small reports whether a node, which has been read, should be joined with a neighbour. It is asked with every change, and looks at no other node.
func (n *node) small() bool {
	if n.kids != nil {
		return len(n.kids) < 2
	}
	return n.size < partSize/sparse
}

// joined joins a child with a neighbour, if both fit into one node, and are in memory.
func (c *change) joined(kids []child, i int) []child {
	if i == len(kids)-1 {
		i--
	}
	if i < 0 {
		return kids
	}
	both := together(kids[i].node, kids[i+1].node)
	if both == nil {
		return kids
	}
	if both.kids != nil {
		first := len(kids[i].node.here().kids)
		both.kids[first].low = kids[i+1].low // it is not the first one any more
	}
	both.run = c.run
	kids[i].node = both
	return slices.Delete(kids, i+1, i+2)
}

// together returns one node of two neighbours, nil if they do not fit into one, or are not in memory.
func together(a, b *node) (both *node) {
	a, b = a.ifHere(), b.ifHere()
	switch {
	case a == nil || b == nil:
	case a.kids == nil && a.size+b.size <= partSize:
		return newLeaf(slices.Concat(a.packed, b.packed), a.count+b.count)
	case a.kids != nil && len(a.kids)+len(b.kids) <= most(a.kids):
		return newInner(slices.Concat(a.kids, b.kids))
	}
	return nil
}

// ascend visits the items from a position on, and reports whether visit did not stop it.
func (n *node) ascend(pos uint64, visit func(key, value []byte) bool) bool {
	n = n.passing()
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
	n = n.passing()
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
