package datatype

import (
	"iter"
	"maps"
	"math/bits"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// Chooses reports whether an operation makes random choices, of the number in Request.Random.
func Chooses(op command.Op) bool {
	switch op {
	case command.OpHRandField, command.OpSPop, command.OpSRandMember, command.OpZRandMember:
		return true
	}
	return false
}

// dice makes random numbers of one (splitmix64).
type dice uint64

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	high, _ := bits.Mul64(parts.Mix(uint64(*d)), uint64(n))
	return int(high)
}

// ranks returns count different numbers below n, in ascending order (Floyd's algorithm).
func (d *dice) ranks(count, n int) []int {
	chosen := make(map[int]struct{}, count)
	for i := n - count; i < n; i++ {
		rank := d.below(i + 1)
		if _, taken := chosen[rank]; taken {
			rank = i
		}
		chosen[rank] = struct{}{}
	}
	return slices.Sorted(maps.Keys(chosen))
}

// choose goes through so many different elements, chosen by chance, in the order of the collection.
func (d *dice) choose(missing int, e elements) iter.Seq2[[]byte, []byte] {
	const few = 64 // one of how many elements is asked for by its rank, or else all are gone through
	if e.byPosition() != nil && missing < e.count()/few {
		return ranked(e, d.ranks(missing, e.count()))
	}
	return func(yield func(name, value []byte) bool) { // Knuth's algorithm S
		left := e.count()
		for name, value := range e.all() {
			if missing == 0 {
				return
			}
			if d.below(left) < missing {
				if !yield(name, value) {
					return
				}
				missing--
			}
			left--
		}
	}
}

// ranked goes through the elements with these ranks.
func ranked(e elements, ranks []int) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for _, rank := range ranks {
			if !yield(e.at(rank)) {
				return
			}
		}
	}
}

// finder returns what finds elements by their ranks quickly, many times.
func finder(e elements) func(rank int) (name, value []byte) {
	if m := e.byPosition(); m != nil {
		return m.At
	}
	type pair struct{ name, value []byte }
	all := make([]pair, 0, e.count())
	for name, value := range e.all() {
		all = append(all, pair{name, value})
	}
	return func(rank int) (name, value []byte) { return all[rank].name, all[rank].value }
}
