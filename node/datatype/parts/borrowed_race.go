//go:build race

package parts

import "slices"

const spoils = true

// spoilt returns a copy of the bytes of a part that is changed in place, with as much room, and makes them rubbish, so that whoever keeps what Get has lent finds that there.
func spoilt(n *node) []byte {
	packed := slices.Grow([]byte(nil), cap(n.packed))[:len(n.packed)]
	copy(packed, n.packed)
	for i := range n.packed {
		n.packed[i] = 0xdb
	}
	return packed
}
