package parts

import (
	"sync/atomic"

	"github.com/quolldb/quoll/internal/record"
)

// A map that is in a store is read as it is needed: a node that nobody has needed yet is known by what the one above it says of it, and where the store
// has it. Versions of the map share such a node, so what one of them reads the others have, and what a change replaces all have: it is read before. What
// is read to answer a query or to make a change stays. What a walk through the map comes by, which may be longer than memory, does so if there is room.
//
// Structure never depends on what is read: a page is joined with its neighbour only if that is there.

// unread is what a node has that is not read yet, or was not when the map came from the store. ranked: it is one of a Sequence.
type unread struct {
	read   atomic.Pointer[node] // once it is there
	from   record.Source
	at     record.Place
	levels int // more nodes than that are not below each other
	ranked bool
}

// stub is a node with what it has that is not read, near together: both are looked at on every way through it.
type stub struct {
	node   node
	unread unread
}

// origin is where a map comes from that is read as it is needed, and how many bytes it had. all: nothing is left to read.
type origin struct {
	from record.Source
	size int
	all  bool
}

// here returns the node, read if it has to be. It stays in memory.
func (n *node) here() *node {
	if n.unread == nil {
		return n
	}
	return n.fetch(true)
}

// passing is here for whoever goes through all of the map: what is read stays only if there is room.
func (n *node) passing() *node {
	if n.unread == nil {
		return n
	}
	return n.fetch(false)
}

// ifHere returns the node if it is in memory, and else nil.
func (n *node) ifHere() *node {
	if n.unread == nil {
		return n
	}
	return n.unread.read.Load()
}

func (n *node) fetch(stays bool) *node {
	u := n.unread
	if read := u.read.Load(); read != nil {
		return read
	}
	read, err := u.load(n)
	if other := u.read.Load(); other != nil { // which may be why the store does not have it any more
		return other
	}
	if err != nil {
		panic(record.Unreadable{Err: err})
	}
	size := read.memory()
	if !stays && read.page() && !u.from.Room(size) { // what is above pages is little, and has the nodes that all versions share
		return read
	}
	if !u.read.CompareAndSwap(nil, read) {
		return u.read.Load()
	}
	u.from.Kept(size)
	return read
}

// nodeMemory is about how many bytes of memory a node below another one takes besides its items.
const nodeMemory = 200

// memory returns about how many bytes of memory a node that was read, which is no leaf, takes without those below it that are read on their own.
func (n *node) memory() int {
	size := len(n.kids) * nodeMemory
	if n.page() {
		size += n.size
	}
	return size
}

// readAll reads what is not in memory of a node and all below it.
func (n *node) readAll() {
	n = n.here()
	for _, k := range n.kids {
		k.node.readAll()
	}
}

// prepare reads what a change will need of a map that may not be in memory as a whole: the way to the item, or everything if the map is to be there as a
// whole then. It returns the origin of the next version.
func (m *Map) prepare(root *node, c *change) *origin {
	if m.origin == nil || m.origin.all || root == nil {
		return m.origin
	}
	_, start, end, _ := root.leaf(c.pos).find(c.key)
	if !m.origin.from.Whole(m.size - (end - start)) {
		return m.origin
	}
	root.readAll()
	return &origin{m.origin.from, m.origin.size, true}
}

// Source implements record.Parted.
func (m *Map) Source() record.Source { return m.origin.source() }

func (o *origin) source() record.Source {
	if o == nil {
		return nil
	}
	return o.from
}
