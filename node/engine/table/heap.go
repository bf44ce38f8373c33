package table

import (
	"bytes"
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// heap is the memory that a page keeps the bytes of its entries in: values, and keys that are not in their entries. What is
// short is in one array, where a value is overwritten by one as long; what is long is memory of its own. Nothing else than the page knows where
// something is, so the array is copied when it is full, and what was given back is left out.
type heap struct {
	near []byte
	// live is how many bytes of near are in use.
	live int
	far  *far // nil while there is nothing
}

// far is what is longer than record.CopiedValue.
type far struct {
	list  [][]byte // nil: free
	holes int      // that are free
}

// piece is some bytes of a heap: where they begin in near or, with isFar, their index in far.
type piece struct{ at, n uint32 }

const isFar = 1 << 31

// nearMost bounds near, so that isFar is not reached: only keys that somebody has chosen to be in one page come near it.
const nearMost = 1 << 30

// grain is what pieces are rounded up to, so that a value that is a little longer than the one before may take its place.
const grain = 8

func rounded(n int) int { return (n + grain - 1) &^ (grain - 1) }

// bytes returns a piece, without spare capacity that an append could write to.
func (h *heap) bytes(p piece) []byte {
	switch {
	case p.n == 0:
		return nil
	case p.at&isFar != 0:
		return slices.Clip(h.far.list[p.at&^isFar])
	}
	return h.near[p.at : p.at+p.n : p.at+p.n]
}

// nearSize returns how many bytes of near a piece takes.
func (p piece) nearSize() int {
	if p.at&isFar != 0 {
		return 0
	}
	return rounded(int(p.n))
}

// isNear reports whether bytes belong into near.
func (h *heap) isNear(b []byte) bool { return len(b) <= record.CopiedValue && h.live < nearMost }

// add keeps bytes, in near if they belong there: there is room.
func (h *heap) add(b []byte) piece {
	switch {
	case len(b) == 0:
		return piece{}
	case h.isNear(b):
		return h.addNear(b)
	case len(b) <= record.CopiedValue: // it is borrowed
		b = bytes.Clone(b)
	}
	return h.addFar(b)
}

// take keeps what another heap has, in the same way.
func (h *heap) take(from *heap, p piece) piece {
	switch {
	case p.n == 0:
		return piece{}
	case p.at&isFar == 0:
		return h.addNear(from.bytes(p))
	}
	return h.addFar(from.bytes(p))
}

func (h *heap) addNear(b []byte) piece {
	at, size := len(h.near), rounded(len(b))
	h.near = h.near[:at+size]
	copy(h.near[at:], b)
	h.live += size
	return piece{uint32(at), uint32(len(b))}
}

func (h *heap) addFar(b []byte) piece {
	if h.far == nil {
		h.far = new(far)
	}
	at := len(h.far.list)
	if h.far.holes > 0 {
		at = slices.IndexFunc(h.far.list, func(b []byte) bool { return b == nil })
		h.far.list[at] = b
		h.far.holes--
	} else {
		h.far.list = append(h.far.list, b)
	}
	return piece{uint32(at) | isFar, uint32(len(b))}
}

// free gives a piece back.
func (h *heap) free(p piece) {
	switch {
	case p.n == 0:
	case p.at&isFar == 0:
		h.live -= p.nearSize()
		scribble(h.near[p.at : p.at+p.n])
	default:
		h.far.list[p.at&^isFar] = nil
		if h.far.holes++; h.far.holes == len(h.far.list) {
			h.far = nil
		}
	}
}

// nearSlack is what part of a new array is spare at least.
const nearSlack = 8
