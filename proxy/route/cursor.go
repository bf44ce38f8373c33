package route

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// Cursor is a place in an iteration over the whole cluster: the slot, and the upper bits of the position in it. Zero is
// both the start and the end, as in Redis' SCAN.
//
// It is below 2^53: some client libraries keep cursors in floating-point numbers, which have no more bits, and would go on from
// somewhere else without noticing. (Redis' own cursors are small as long as its tables are.) So a page ends
// only where a cursor can point to.
type Cursor uint64

// The bits of a cursor: those of a slot, and those that are left for the position.
const (
	slotBits     = 14
	positionBits = 53 - slotBits
	// coarseBits are the bits of a position that cursors do not have.
	coarseBits = 48 - positionBits
)

// CursorOf is the cursor of the beginning of a slot.
func CursorOf(slot uint16) Cursor { return Cursor(slot) << positionBits }

// Slot is the slot that the cursor points into.
func (c Cursor) Slot() uint16 { return uint16(c >> positionBits) }

// endCursor is above every cursor.
const endCursor Cursor = ring.Slots << positionBits

// cursorAt returns the cursor of a place, or of the last one before it that has one.
func cursorAt(p protocol.Place) Cursor {
	return Cursor(p.Slot())<<positionBits | Cursor(p.Position()>>coarseBits)
}

// place returns where the cursor points to.
func (c Cursor) place() protocol.Place {
	return protocol.NewPlace(uint16(c>>positionBits), uint64(c&(1<<positionBits-1))<<coarseBits)
}
