package table

import "github.com/quolldb/quoll/node/engine"

// handle is where a table has found an entry last, until entries move. What an operation does with its key is one look-up: whoever comes first, be it the one who
// brings the entry near, finds it; those who read, compare and store after him have the handle. It is the table's own and the key is compared each time, so nobody
// has to pass it on, or to give it back: whatever comes in between, another key or the evictor, makes the next one look the key up again.
type handle struct {
	pos engine.Position
	Ref // of no page if there is none
}

// is reports whether it is the handle of a key's entry.
func (h *handle) is(pos engine.Position, key []byte) bool {
	return h.pos == pos && h.page != nil && h.HasKey(key)
}
