package datatype

import (
	"iter"

	"github.com/quolldb/quoll/node/datatype/parts"
)

// elements are what a collection has under names of which none is there twice: the fields of a hash with their values, the members of a set, those of a
// sorted set with their scores. It is what scans and random choices look at.
type elements interface {
	// count returns how many there are.
	count() int
	// all goes through them in the order of the collection.
	all() iter.Seq2[[]byte, []byte]
	// at returns the one with a rank in that order.
	at(rank int) (name, value []byte)
	// byPosition returns the map that they are in, so that they are in the order of their names' positions, and found by these; nil if they are packed.
	byPosition() *parts.Map
}
