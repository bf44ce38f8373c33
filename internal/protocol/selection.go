package protocol

import "github.com/quolldb/quoll/internal/database"

// Selection says which records of its slots a node tells. The zero Selection is all of them, also Quoll's own, which are told as tombstones.
type Selection uint8

// OfOthers selects the keys of all databases but 0.
const OfOthers Selection = database.Count + 1

// OfDatabase selects the keys of one database.
func OfDatabase(number int) Selection { return Selection(number + 1) }

// Selects reports whether a key is told.
func (s Selection) Selects(key []byte) bool {
	if s == 0 {
		return true
	}
	number, _ := database.Split(key)
	switch {
	case number > 0:
		return s == OfOthers || s == OfDatabase(number)
	default:
		return s == OfDatabase(0) && !database.Reserved(key)
	}
}

// Others reports whether only keys of other databases than 0 are selected.
func (s Selection) Others() bool { return s > OfDatabase(0) }
