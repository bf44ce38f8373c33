package engine

import (
	"math/bits"

	"github.com/quolldb/quoll/internal/record"
)

// LeafCount is the number of leaves of a slot. Nodes compare leaves, so it can never change.
const LeafCount = 64

// leafShift makes a leaf's number of a position: its highest bits.
const leafShift = 48 - 6

// Leaves are what a slot's digests add up to, in parts: each is the sum of Mix over the versions of
// the records, live and tombstones, of a range of positions. A range is what Scan visits without a
// detour, and the same on all nodes. Whoever chooses keys can put many in one leaf, as positions are no
// secret; then less is left out when only that leaf is compared, and nothing else changes: what is
// summed are versions, which clients do not choose.
type Leaves [LeafCount]uint64

// LeafOf returns the number of the leaf that a position belongs to.
func LeafOf(pos Position) int { return int(pos >> leafShift) }

// LeafStart returns the first position of a leaf; that of LeafCount is EndPosition.
func LeafStart(leaf int) Position { return Position(leaf) << leafShift }

// Add counts a record in.
func (l *Leaves) Add(pos Position, v record.Version) { l[LeafOf(pos)] += Mix(v) }

// Root returns what the leaves add up to: SlotStats.Root of the same records.
func (l *Leaves) Root() uint64 {
	sum := uint64(0)
	for _, leaf := range l {
		sum += leaf
	}
	return sum
}

// Differing returns the leaves that are not the same in others, leaf i as bit i.
func (l *Leaves) Differing(others *Leaves) (leaves uint64) {
	for i := range l {
		if l[i] != others[i] {
			leaves |= 1 << i
		}
	}
	return leaves
}

// NextLeaves returns the first positions from a place on that belong to some leaves, leaf i as bit i: from
// start to below end, as far as leaf follows leaf. Both are EndPosition if there are none.
func NextLeaves(leaves uint64, from Position) (start, end Position) {
	leaves &= ^uint64(0) << LeafOf(from)
	first := bits.TrailingZeros64(leaves)
	behind := first + bits.TrailingZeros64(^(leaves >> first))
	return max(from, LeafStart(first)), LeafStart(behind)
}
