// Package algebra computes the commands that put sets and sorted sets together: SINTER, SUNION, SDIFF, SINTERCARD, ZINTER, ZUNION, ZDIFF and ZINTERCARD, and those that store
// what these find. It stands alone, as package lcs does: keys may live on different nodes, so the proxy computes them of what it has read, and the proxy imports nothing
// of the node. What stores is of keys of one slot, which a node computes.
//
// It is pure: no I/O, no clock, nothing kept between calls.
package algebra

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
)

// A Collection is a set or a sorted set as a node sends it whole: one byte that says which, and its members, each with its length before it (uvarint) and, of a sorted
// set, with its score (eight bytes, little-endian) before that. The zero Collection is that of an absent key.
type Collection string

// The first bytes.
const (
	plainKind  = 0
	scoredKind = 1
)

// errCollection is the fault of what is no collection.
var errCollection = errors.New("algebra: not a collection")

// AppendSet begins a set.
func AppendSet(dst []byte) []byte { return append(dst, plainKind) }

// AppendMember appends a member of a set.
func AppendMember(dst, member []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(member))), member...)
}

// AppendSortedSet begins a sorted set.
func AppendSortedSet(dst []byte) []byte { return append(dst, scoredKind) }

// AppendScored appends a member of a sorted set.
func AppendScored(dst, member []byte, score float64) []byte {
	return AppendMember(binary.LittleEndian.AppendUint64(dst, math.Float64bits(score)), member)
}

// Weight is about how many bytes of memory it takes to put a collection together with others: what it has, and what looks its members up.
func Weight(bytes, members int) int {
	const entry = 48
	return bytes + entry*members
}

// Weight is the weight of the collection.
func (c Collection) Weight() int { return Weight(len(c), c.count()) }

// Valid returns an error if the collection, which is from elsewhere, is damaged.
func (c Collection) Valid() error {
	if len(c) > 0 && c[0] > scoredKind {
		return errCollection
	}
	for rest := c.members(); len(rest) > 0; {
		var ok bool
		if _, _, rest, ok = c.next(rest); !ok {
			return errCollection
		}
	}
	return nil
}

// count returns how many members there are.
func (c Collection) count() (n int) {
	for range c.all() {
		n++
	}
	return n
}

// all goes through the members and their scores, which are 1 in a set.
func (c Collection) all() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for rest := c.members(); len(rest) > 0; {
			member, score, behind, ok := c.next(rest)
			if !ok || !yield(member, score) {
				return
			}
			rest = behind
		}
	}
}

// members returns what is behind the first byte.
func (c Collection) members() string { return string(c[min(1, len(c)):]) }

// next returns the first member of the rest of a collection.
func (c Collection) next(rest string) (member string, score float64, behind string, ok bool) {
	score = 1
	if c[0] == scoredKind {
		if len(rest) < 8 {
			return "", 0, "", false
		}
		var bits uint64
		for i := range 8 {
			bits |= uint64(rest[i]) << (8 * i)
		}
		score, rest = math.Float64frombits(bits), rest[8:]
	}
	length, size := uvarint(rest)
	if size <= 0 || length > uint64(len(rest)-size) {
		return "", 0, "", false
	}
	end := size + int(length)
	return rest[size:end], score, rest[end:], true
}

// uvarint is binary.Uvarint of a string.
func uvarint(s string) (n uint64, size int) {
	for i := 0; i < min(len(s), binary.MaxVarintLen64-1); i++ {
		n |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
