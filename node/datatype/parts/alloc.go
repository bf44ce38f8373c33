package parts

import (
	"unsafe"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/prefetch"
)

// A node has what it holds behind it, in the same piece of memory: in a large map each piece on the way to an item has to be fetched from far away, and the next one
// is not known before. The lengths below are such that pieces are as long as those that the allocator gives out.

// withRoom is a node with room for what it holds.
type withRoom[T any] struct {
	node
	room T
}

// newLeaf returns a part with these items, of which it has a copy.
func newLeaf(packed []byte, count int) *node {
	n := leafOf(len(packed))
	n.count = count
	buffer.Copy(n.packed, packed)
	return n
}

// newPacked returns a part with these items, which it keeps.
func newPacked(packed []byte, count int) *node {
	return &node{count: count, size: len(packed), packed: packed}
}

// leafOf returns a part of so many bytes, all zero.
func leafOf(size int) *node {
	var (
		n    *node
		room []byte
	)
	switch {
	case size <= 160:
		p := new(withRoom[[160]byte])
		n, room = &p.node, p.room[:]
	case size <= 288:
		p := new(withRoom[[288]byte])
		n, room = &p.node, p.room[:]
	case size <= 416:
		p := new(withRoom[[416]byte])
		n, room = &p.node, p.room[:]
	case size <= 536:
		p := new(withRoom[[536]byte])
		n, room = &p.node, p.room[:]
	case size <= 664:
		p := new(withRoom[[664]byte])
		n, room = &p.node, p.room[:]
	case size <= 792:
		p := new(withRoom[[792]byte])
		n, room = &p.node, p.room[:]
	case size <= 920:
		p := new(withRoom[[920]byte])
		n, room = &p.node, p.room[:]
	case size <= 1048:
		p := new(withRoom[[1048]byte])
		n, room = &p.node, p.room[:]
	default:
		n, room = new(node), make([]byte, size)
	}
	n.size, n.packed = size, room[:size]
	return n
}

// newInner returns a node above these, of whose list it has a copy.
func newInner(kids []child) *node {
	n := innerOf(kids)
	n.weigh()
	return n
}

// weigh counts what is below the node.
func (n *node) weigh() {
	n.count, n.size = 0, 0
	for _, k := range n.kids {
		n.count += k.node.count
		n.size += k.node.size
	}
}

// innerOf is newInner for whoever knows how much is below the node.
func innerOf(kids []child) *node {
	var (
		n    *node
		room []child
	)
	switch size := len(kids); {
	case size <= 4:
		p := new(withRoom[[4]child])
		n, room = &p.node, p.room[:]
	case size <= 6:
		p := new(withRoom[[6]child])
		n, room = &p.node, p.room[:]
	case size <= 8:
		p := new(withRoom[[8]child])
		n, room = &p.node, p.room[:]
	case size <= 16:
		p := new(withRoom[[16]child])
		n, room = &p.node, p.room[:]
	case size <= 24:
		p := new(withRoom[[24]child])
		n, room = &p.node, p.room[:]
	case size <= fanout:
		p := new(withRoom[[fanout]child])
		n, room = &p.node, p.room[:]
	default:
		n, room = new(node), make([]child, size)
	}
	n.kids = room[:copy(room, kids)]
	return n
}

// What is brought near of a node at once: of a part what a search reads of it on average, and most of any other node.
const (
	nearLeaf  = 10 * 64
	nearInner = 8 * 64
)

// near brings a child of the node near, before anything of it is known. Above a part there are few.
func (n *node) near(kid *node) *node {
	size := uintptr(nearInner)
	if len(n.kids) <= pageFanout {
		size = nearLeaf
	}
	prefetch.Span(unsafe.Pointer(kid), size)
	return kid
}
