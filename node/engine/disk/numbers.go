package disk

import (
	"hash/maphash"
	"math/bits"
)

// numbers remembers of records that were written lately under which number the store has their value, or that no value of theirs is apart. Who writes one again
// would have to read it first, to remove that value: a sixth of what a node does that overwrites values of 1 KiB. Nothing depends on what it says: to remove
// what is not there does no harm, and what is left behind is an orphan. It belongs to the flusher.
type numbers struct {
	seed   maphash.Seed
	places []knownNumber // a power of two; nil until a value is apart
}

// knownNumber is a record by its hash, the last one that has come to its place: 0 is none.
type knownNumber struct{ sum, number uint64 }

const (
	leastNumbers, mostNumbers = 1 << 12, 1 << 22
	// numbersPart is which part of the cache they take.
	numbersPart = 64
	numberSize  = 16
)

// at returns the place of a record, and its hash.
func (n *numbers) at(key []byte) (*knownNumber, uint64) {
	sum := maphash.Bytes(n.seed, key) | 1
	return &n.places[sum>>1&uint64(len(n.places)-1)], sum
}

// of returns the number of a record's value, 0 if that is not apart, if it is known.
func (n *numbers) of(key []byte) (number uint64, known bool) {
	if n.places == nil {
		return 0, false
	}
	place, sum := n.at(key)
	return place.number, place.sum == sum
}

// note remembers where the store has the value of a record now. cache is the size of the engine's, in bytes.
func (n *numbers) note(key []byte, away elsewhere, cache int64) {
	if n.places == nil {
		n.seed, n.places = maphash.MakeSeed(), make([]knownNumber, max(leastNumbers, min(mostNumbers, 1<<bits.Len64(uint64(cache/numbersPart/numberSize/2)))))
	}
	if away.parts.object != 0 {
		n.forget(key)
		return
	}
	place, sum := n.at(key)
	*place = knownNumber{sum, away.number}
}

// forget forgets a record.
func (n *numbers) forget(key []byte) {
	if n.places == nil {
		return
	}
	if place, sum := n.at(key); place.sum == sum {
		*place = knownNumber{}
	}
}
