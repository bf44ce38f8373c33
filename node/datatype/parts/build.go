package parts

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/quolldb/quoll/internal/buffer"
)

// Unpack makes a map of its packed form, of which nothing is kept. It reports false for what is no packed form, or has a key twice.
func Unpack(packed []byte) (*Map, bool) {
	n, at := binary.Uvarint(packed)
	if at <= 0 || n == 0 || n > uint64(len(packed)) {
		return nil, false
	}
	type item struct {
		pos        uint64
		start, end int
	}
	items := make([]item, 0, n)
	for at < len(packed) {
		key, _, end, ok := Next(packed, at)
		if !ok {
			return nil, false
		}
		items = append(items, item{Position(key), at, end})
		at = end
	}
	if uint64(len(items)) != n {
		return nil, false
	}
	slices.SortFunc(items, func(a, b item) int {
		if c := cmp.Compare(a.pos, b.pos); c != 0 {
			return c
		}
		keyA, _, _ := Lengthened(packed, a.start)
		keyB, _, _ := Lengthened(packed, b.start)
		return cmp.Compare(string(keyA), string(keyB))
	})
	for i := range items[1:] {
		keyA, _, _ := Lengthened(packed, items[i].start)
		keyB, _, _ := Lengthened(packed, items[i+1].start)
		if string(keyA) == string(keyB) {
			return nil, false
		}
	}
	var kids []child
	for first := 0; first < len(items); {
		end, size := first, 0
		for end < len(items) && (end == first || items[end].pos == items[end-1].pos || size+items[end].end-items[end].start <= fullPart) {
			size += items[end].end - items[end].start
			end++
		}
		leaf := leafOf(size)
		leaf.count = end - first
		part := leaf.packed[:0]
		for _, i := range items[first:end] {
			part = buffer.Append(part, packed[i.start:i.end])
		}
		kids = append(kids, child{items[first].pos, leaf})
		first = end
	}
	return newMap(above(kids)), true
}

// fullPart is the size of parts that are made all at once: they have room for more, and so have the nodes above them.
const fullPart = partSize * 3 / 4

// full is how many of these nodes are put below one, if many are made all at once.
func full(kids []child) int { return most(kids) * 3 / 4 }

// above returns the root of a tree of these nodes.
func above(kids []child) *node {
	for len(kids) > 1 {
		var next []child
		for some := range slices.Chunk(kids, full(kids)) {
			next = append(next, child{some[0].low, newInner(some)})
		}
		kids = next
	}
	return kids[0].node
}
