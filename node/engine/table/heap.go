package table

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/arena"
)

// heap is the memory that a page keeps the short bytes of its entries in: values, and keys that are not in their entries. They
// are in one array, where a value is overwritten by one as long. Nothing else than the page knows where
// something is, so the array is copied when it is full, and what was given back is left out.
type heap struct {
	near []byte
	// live is how many bytes of near are in use.
	live int
}

// piece is some bytes of a page: where they begin in its heap or, with isFar, their index in what is far.
type piece struct{ at, n uint32 }

const isFar = 1 << 31

// nearMost bounds near, so that isFar is not reached: only keys that somebody has chosen to be in one page come near it.
const nearMost = 1 << 30

// grain is what pieces are rounded up to, so that a value that is a little longer than the one before may take its place.
const grain = 8

func rounded(n int) int { return (n + grain - 1) &^ (grain - 1) }

// bytes returns a piece that is near, without spare capacity that an append could write to.
func (h *heap) bytes(p piece) []byte { return h.near[p.at : p.at+p.n : p.at+p.n] }

// nearSize returns how many bytes of near a piece takes.
func (p piece) nearSize() int {
	if p.at&isFar != 0 {
		return 0
	}
	return rounded(int(p.n))
}

// pieceOverhead is what memory of its own takes beside the bytes: its slice, and what the allocator rounds up.
const pieceOverhead = 64

// isNear reports whether bytes belong into near.
func (h *heap) isNear(b []byte) bool { return len(b) <= record.CopiedValue && h.live < nearMost }

// add keeps bytes in near, where there is room.
func (h *heap) add(b []byte) piece {
	at, size := len(h.near), rounded(len(b))
	h.near = h.near[:at+size]
	copy(h.near[at:], b)
	h.live += size
	return piece{uint32(at), uint32(len(b))}
}

// take keeps what another heap has. What is not near stays where it is.
func (h *heap) take(from *heap, p piece) piece {
	if p.nearSize() == 0 {
		return p
	}
	return h.add(from.bytes(p))
}

// free gives a piece back that is near.
func (h *heap) free(p piece) {
	h.live -= p.nearSize()
	arena.Spoil(h.near[p.at : p.at+p.n])
}

const (
	// nearSlack is what part of a new array is spare at least.
	nearSlack = 8
	// nearSpare is how much of an array may be free in any case, in bytes.
	nearSpare = 256
)
