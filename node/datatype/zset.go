package datatype

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// zset is what a key has of members with scores, to look at. Packed, it is how many there are, and each in the order of their scores, and of the members where
// scores are equal: the length of both, the score as appendCode keeps it, the member. A sorted set without members does not exist.
type zset struct {
	packed []byte
	board  *scoreboard // nil: packed
}

// A sorted set with more members or bytes is in parts. Fewer are packed as long as Redis would pack them (zset-max-listpack-entries, and as many members of more than
// zset-max-listpack-value bytes).
const packedMembers = 128

// isSmallZset reports whether a sorted set of so many members and bytes is packed. Nothing else decides about the form: see hash.settled.
func isSmallZset(count, size int) bool { return count <= packedMembers && size <= packedSize }

// scored is a member with its score.
type scored struct {
	score  float64
	member []byte
}

// compare is the order of sorted sets.
func (s scored) compare(t scored) int {
	if c := cmp.Compare(s.score, t.score); c != 0 {
		return c
	}
	return bytes.Compare(s.member, t.member)
}

// size is how many bytes the member takes in a packed sorted set.
func (s scored) size() int { return parts.LengthenedSize(scoreSize(s.score) + len(s.member)) }

// append appends what a packed sorted set has of the member.
func (s scored) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(scoreSize(s.score)+len(s.member)))
	return append(appendCode(dst, s.score), s.member...)
}

// scoredOf reads an element of a sorted set.
func scoredOf(element []byte) scored {
	score, size := codedScore(element)
	return scored{score, element[size:]}
}

// zsetVerbs are the verbs of sorted sets.
var zsetVerbs = verbs{
	valid:    validZset,
	live:     liveZset,
	build:    func(size int) record.Builder { return scoreboardBuilder{parts.NewSequenceBuilder(size)} },
	assemble: assembleScoreboard,
	longest:  longestCollection,
	delta:    deltaScores, apply: applyScores,
}

// zsetIn returns the sorted set that a state has, or an empty one.
func zsetIn(st record.State) zset {
	board, _ := st.Object.(*scoreboard)
	return zset{st.Value, board}
}

// liveZset is the verb live of sorted sets.
func liveZset(packed []byte) record.Object {
	if board := (zset{packed: packed}).settled().board; board != nil {
		return board
	}
	return nil
}

// settled returns the sorted set in the form that suits its size.
func (z zset) settled() zset {
	switch small := isSmallZset(z.count(), z.size()); {
	case small && z.board != nil:
		return zset{packed: z.board.AppendTo(make([]byte, 0, z.size()))}
	case small || z.board != nil:
		return z
	}
	if order, ok := parts.UnpackSequence(z.packed); ok {
		if board, err := scoreboardOf(order); err == nil {
			return zset{board: board}
		}
	}
	return z
}

// state returns the state of a key with the sorted set.
func (z zset) state(expireAt int64) record.State {
	if z.board != nil {
		return record.State{Type: record.SortedSet, ExpireAt: expireAt, Object: z.board}
	}
	return record.State{Type: record.SortedSet, ExpireAt: expireAt, Value: z.packed}
}

// count returns how many members there are.
func (z zset) count() int {
	if z.board != nil {
		return z.board.order.Len()
	}
	n, size := binary.Uvarint(z.packed)
	if size <= 0 || n > uint64(len(z.packed)) {
		return 0
	}
	return int(n)
}

// size returns how many bytes the sorted set has when it is packed.
func (z zset) size() int {
	if z.board != nil {
		return z.board.Size()
	}
	return len(z.packed)
}

// placed is a member that was looked up: its score, and, in a packed sorted set, its rank, and where it is.
type placed struct {
	score      float64
	rank       int
	start, end int
	found      bool
}

// locate looks a member up.
func (z zset) locate(member []byte) (at placed) {
	if z.board != nil {
		code, found := z.board.scores.Get(member)
		if found {
			at.score, _ = codedScore(code)
		}
		at.found = found
		return at
	}
	for e := packedScores(z.packed); e.next(); at.rank++ {
		if size := 1 + int(e.element[0]); string(e.element[size:]) == string(member) {
			score, _ := codedScore(e.element)
			return placed{score, at.rank, e.start, e.end, true}
		}
	}
	return placed{}
}

// rank returns the rank of a member that was looked up.
func (z zset) rank(member []byte, at placed) int {
	if z.board != nil {
		return search(z.board.order, scored{at.score, member})
	}
	return at.rank
}

// first returns the rank of the first member, not before from, that is wanted, and count if none is. If members that are wanted begin at one rank and go on to
// the end it is found in O(log n).
func (z zset) first(from int, wanted func(scored) bool) int {
	if z.board != nil {
		return max(from, z.board.order.Search(func(element []byte) bool { return !wanted(scoredOf(element)) }))
	}
	rank := from
	for s := range z.from(from) {
		if wanted(s) {
			return rank
		}
		rank++
	}
	return rank
}

// last returns the rank of the last member, before end, that is wanted, and -1 if none is. If members that are wanted go on from the beginning to one rank it is found in O(log n).
func (z zset) last(end int, wanted func(scored) bool) int {
	if z.board != nil {
		return min(end, z.board.order.Search(func(element []byte) bool { return wanted(scoredOf(element)) })) - 1
	}
	rank := end - 1
	for s := range z.down(end) {
		if wanted(s) {
			return rank
		}
		rank--
	}
	return rank
}

// at returns the member of a rank, which there is.
func (z zset) at(rank int) (at scored) {
	if z.board != nil {
		return scoredOf(z.board.order.At(rank))
	}
	for at = range z.from(rank) {
		break
	}
	return at
}

// read goes through elements of a scoreboard.
func read(elements iter.Seq[[]byte]) iter.Seq[scored] {
	return func(yield func(scored) bool) {
		for element := range elements {
			if !yield(scoredOf(element)) {
				return
			}
		}
	}
}

// from goes through the members from a rank on.
func (z zset) from(rank int) iter.Seq[scored] {
	if z.board != nil {
		return read(z.board.order.From(rank))
	}
	return func(yield func(scored) bool) {
		e := packedScores(z.packed)
		for range rank {
			e.next()
		}
		for e.next() {
			if !yield(scoredOf(e.element)) {
				return
			}
		}
	}
}

// down goes through the members before a rank, the highest first.
func (z zset) down(end int) iter.Seq[scored] {
	if z.board != nil {
		return read(z.board.order.Back(end - 1))
	}
	return func(yield func(scored) bool) {
		var room [packedMembers][]byte
		list := room[:0]
		for e := packedScores(z.packed); len(list) < end && e.next(); {
			list = append(list, e.element)
		}
		for i := len(list) - 1; i >= 0; i-- {
			if !yield(scoredOf(list[i])) {
				return
			}
		}
	}
}

// elementWalk goes through packed elements. What is damaged ends it.
type elementWalk struct {
	packed []byte
	// start is where the current element begins, end where the next one does.
	start, end int
	element    []byte // part of packed
}

// packedScores returns what goes through a packed sorted set, or through none.
func packedScores(packed []byte) elementWalk {
	_, size := binary.Uvarint(packed)
	return elementWalk{packed: packed, end: max(size, 0)}
}

// next goes to the next element, and reports whether there is one.
func (e *elementWalk) next() (ok bool) {
	if e.start = e.end; e.start >= len(e.packed) {
		return false
	}
	if n := int(e.packed[e.start]); n < 0x80 && e.start+1+n <= len(e.packed) { // most are short
		e.end = e.start + 1 + n
		e.element = e.packed[e.start+1 : e.end : e.end]
	} else {
		e.element, e.end, _ = parts.Lengthened(e.packed, e.start)
	}
	return len(e.element) > 0 && len(e.element) > int(e.element[0])
}

// validZset reports whether bytes from elsewhere are a packed sorted set.
func validZset(packed []byte) bool {
	count, size := binary.Uvarint(packed)
	if size <= 0 || size != parts.UvarintSize(int(count)) || count == 0 || count > uint64(len(packed)) {
		return false
	}
	seen := make(map[string]struct{}, count)
	last, e := scored{}, elementWalk{packed: packed, end: size}
	for e.next() {
		score, size, ok := checkedScore(e.element)
		next := scored{score, e.element[size:]}
		if !ok || e.end-e.start != next.size() || len(seen) > 0 && last.compare(next) >= 0 {
			return false
		}
		if _, twice := seen[string(next.member)]; twice {
			return false
		}
		seen[string(next.member)] = struct{}{}
		last = next
	}
	return e.start == len(packed) && uint64(len(seen)) == count
}
