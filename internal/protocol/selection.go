package protocol

import (
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/ring"
)

// Selection says which records of its slots a node tells. The zero Selection is all of them, also Quoll's own, which are told as tombstones.
type Selection uint8

// OfOthers selects the keys of all databases but 0, unless that is placed together.
const OfOthers Selection = database.IDs + 1

// OfDatabase selects the keys of one database, under the names of one placement.
func OfDatabase(id database.ID) Selection { return Selection(id) + 1 }

// PlacesOf returns where the keys of a database are, under the names of one placement: from a place on, and before another one.
func PlacesOf(id database.ID) (first, end Place) {
	if !id.Together() {
		return 0, EndPlace
	}
	slot := ring.SlotOfDatabase(id)
	return NewPlace(slot, 0), NewPlace(slot+1, 0)
}

// Selects reports whether a key is told.
func (s Selection) Selects(key []byte) bool {
	if s == 0 {
		return true
	}
	id, _ := database.Split(key)
	switch {
	case id > 0:
		return s == OfOthers || s == OfDatabase(id)
	default:
		return s == OfDatabase(0) && !database.Reserved(key)
	}
}

// Others reports whether only keys that begin with database.Prefix are selected.
func (s Selection) Others() bool { return s > OfDatabase(0) }
