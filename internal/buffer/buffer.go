// Package buffer lends memory for bytes that are many for a moment: large commands, large replies and the frames
// they travel in. To allocate a MiB is to clear it, and where the system has to find
// the memory first, page by page, that costs more than all that is done with the bytes.
//
// What is given back is kept for the next one that asks, wherever in the process, and goes to the garbage
// collector if nobody does.
package buffer

import (
	"math/bits"
	"sync"
)

const (
	// Least is the length below which buffers are not worth being lent.
	Least = 16 << 10
	// Most is the length above which they are not kept.
	Most = 4 << 20

	// unit is the capacity of the smallest buffers, each next class having twice as much: a power of
	// two, since such values are many, with room for what stands around them.
	unit    = Least + Least/16
	classes = 9
)

var (
	kept [classes]sync.Pool // of *box
	// boxes are those without a buffer: to put a slice into a pool would allocate its header.
	boxes sync.Pool
)

type box struct{ buf []byte }

// Get returns an empty buffer with room for n bytes at least.
func Get(n int) []byte {
	c := classOf(n)
	if c == classes {
		return make([]byte, 0, n)
	}
	b, ok := kept[c].Get().(*box)
	if !ok {
		return make([]byte, 0, unit<<c)
	}
	buf := b.buf
	b.buf = nil
	boxes.Put(b)
	return buf[:0]
}

// Put takes a buffer back, wherever it is from. Nobody uses it, or a part of it, any more.
func Put(buf []byte) {
	if cap(buf) < unit || cap(buf) > unit<<(classes-1) {
		return
	}
	b, ok := boxes.Get().(*box)
	if !ok {
		b = new(box)
	}
	b.buf = buf
	kept[bits.Len(uint(cap(buf)/unit))-1].Put(b)
}

// Reserve returns buf with room for n more bytes, moved if need be: then buf itself is not to be
// used any more. As long as there are few bytes it leaves that to append, which later copies
// more often, and allocates.
func Reserve(buf []byte, n int) []byte {
	if cap(buf)-len(buf) >= n || len(buf)+n < Least {
		return buf
	}
	moved := Append(Get(max(len(buf)+n, 2*len(buf))), buf)
	Put(buf)
	return moved
}

// classOf returns the class of buffers for n bytes, or classes if there is none.
func classOf(n int) int {
	if n <= unit {
		return 0
	}
	return min(classes, bits.Len(uint(n-1)/unit))
}
