package datatype

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// scoreEdit is what a command does to the members of a sorted set: at most one thing to each. What it is given is borrowed. It is a value, whose list begins with memory of
// its maker, so that the usual edit allocates nothing.
type scoreEdit struct {
	list []scoreChange
	// places says where a member is in the list, once that is longer than it is quick to search.
	places map[string]int
}

// scoreChange is what becomes of a member: its new score, its end, or nothing.
type scoreChange struct {
	scored
	remove bool
	was    placed // what the sorted set has
}

// there reports whether the sorted set has the member after the change.
func (c *scoreChange) there() bool { return !c.remove }

// nothing reports whether the change changes nothing.
func (c *scoreChange) nothing() bool {
	if c.remove || !c.was.found {
		return c.remove && !c.was.found
	}
	return c.score == c.was.score
}

// of returns the change of a member: the one that the edit has, or a new one that changes nothing yet. It is good until the next call.
func (e *scoreEdit) of(z zset, member []byte) *scoreChange {
	if i := e.find(member); i >= 0 {
		return &e.list[i]
	}
	was := z.locate(member)
	e.list = append(e.list, scoreChange{scored{was.score, member}, !was.found, was})
	if n := len(e.list); n > searched {
		if e.places == nil {
			e.places = make(map[string]int)
			for i := range e.list {
				e.places[string(e.list[i].member)] = i
			}
		}
		e.places[string(member)] = n - 1
	}
	return &e.list[len(e.list)-1]
}

// find returns where a member is in the list, -1 if it is not.
func (e *scoreEdit) find(member []byte) int {
	if e.places != nil {
		if i, found := e.places[string(member)]; found {
			return i
		}
		return -1
	}
	for i := range e.list {
		if string(e.list[i].member) == string(member) {
			return i
		}
	}
	return -1
}

// changes returns what is changed, in the order of the sorted set that follows: the edit is not to be added to any more.
func (e *scoreEdit) changes() []scoreChange {
	e.list = slices.DeleteFunc(e.list, func(c scoreChange) bool { return c.nothing() })
	slices.SortFunc(e.list, func(a, b scoreChange) int { return a.compare(b.scored) })
	return e.list
}

// withScores returns a sorted set with changes, which are in order; it has no members if none is left.
func (z zset) withScores(changes []scoreChange, s *space) zset {
	if z.board != nil {
		return zset{board: z.board.with(changes)}.settled()
	}
	count, size := z.count(), len(z.packed)-packedScores(z.packed).end
	var room [usual]placed
	gone := room[:0] // the places of what is not where it was
	for i := range changes {
		c := &changes[i]
		if c.was.found {
			gone = append(gone, c.was)
			count, size = count-1, size-(c.was.end-c.was.start)
		}
		if !c.remove {
			count, size = count+1, size+c.size()
		}
	}
	if count == 0 {
		return zset{}
	}
	slices.SortFunc(gone, func(a, b placed) int { return a.start - b.start })
	return zset{packed: z.merge(binary.AppendUvarint(s.take(parts.UvarintSize(count)+size), uint64(count)), gone, changes)}.settled()
}

// merge appends the elements of a packed sorted set without those at some places, and with the members that changes leave.
func (z zset) merge(dst []byte, gone []placed, changes []scoreChange) []byte {
	e := packedScores(z.packed)
	copied := e.end // up to where all has been appended
	for (len(gone) > 0 || len(changes) > 0) && e.next() {
		if len(gone) > 0 && gone[0].start == e.start {
			dst = buffer.Append(dst, z.packed[copied:e.start])
			copied, gone = e.end, gone[1:]
			continue
		}
		for len(changes) > 0 && (changes[0].remove || changes[0].compare(scoredOf(e.element)) < 0) {
			if !changes[0].remove {
				dst = buffer.Append(dst, z.packed[copied:e.start])
				dst, copied = changes[0].append(dst), e.start
			}
			changes = changes[1:]
		}
	}
	dst = buffer.Append(dst, z.packed[copied:])
	for i := range changes {
		if !changes[i].remove {
			dst = changes[i].append(dst)
		}
	}
	return dst
}

// withoutRanks returns a sorted set without the members of ranks from one on, up to another one, all of which it has; it has no members if none is left.
func (z zset) withoutRanks(from, to int, s *space) zset {
	count := z.count() - (to - from)
	switch {
	case count == 0:
		return zset{}
	case z.board != nil:
		return zset{board: z.board.without(from, to)}.settled()
	}
	e := packedScores(z.packed)
	first := e.end
	for range from {
		e.next()
	}
	start := e.end
	for range to - from {
		e.next()
	}
	dst := binary.AppendUvarint(s.take(parts.UvarintSize(count)+start-first+len(z.packed)-e.end), uint64(count))
	return zset{packed: buffer.Append(buffer.Append(dst, z.packed[first:start]), z.packed[e.end:])}
}

// A delta of a sorted set is a byte that says what follows:
const (
	// scoresSet: of each change the length of the member, twice, and one more if it is removed, the member, and the score as appendCode keeps it.
	scoresSet = 0
	// ranksRemoved: the first rank of those that are removed, and how many they are.
	ranksRemoved = 1
)

// scoresDeltaSize is how many bytes scoresDelta appends.
func scoresDeltaSize(changes []scoreChange) int {
	size := 2
	for i := range changes {
		c := &changes[i]
		size += namedSize(c.member)
		if !c.remove {
			size += scoreSize(c.score)
		}
	}
	return size
}

// scoresDelta appends the delta of changes.
func scoresDelta(dst []byte, changes []scoreChange) []byte {
	dst = append(dst, deltaScores, scoresSet)
	for i := range changes {
		c := &changes[i]
		dst = appendNamed(dst, c.member, c.remove)
		if !c.remove {
			dst = appendCode(dst, c.score)
		}
	}
	return dst
}

// ranksDelta appends the delta of the removal of ranks.
func ranksDelta(dst []byte, from, to int) []byte {
	dst = append(dst, deltaScores, ranksRemoved)
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(from)), uint64(to-from))
}

// applyScores is the verb apply of sorted sets.
func applyScores(st record.State, body []byte, s *space) (record.State, error) {
	next, ok := zset{}, false
	if z := zsetIn(st); len(body) > 0 {
		switch body[0] {
		case scoresSet:
			var room [usual]scoreChange
			e := scoreEdit{list: room[:0]}
			if ok = e.decode(z, body[1:]); ok {
				next = z.withScores(e.changes(), s)
			}
		case ranksRemoved:
			from, size := binary.Uvarint(body[1:])
			n, nSize := binary.Uvarint(body[1+max(size, 0):])
			count := uint64(z.count())
			if ok = size > 0 && nSize > 0 && 1+size+nSize == len(body) && from <= count && n <= count-from; ok {
				next = z.withoutRanks(int(from), int(from+n), s)
			}
		}
	}
	if !ok || next.count() == 0 || next.size() > MaxCollectionLen {
		return record.State{}, fmt.Errorf("%w: bad changes of a sorted set", ErrDelta)
	}
	return next.state(st.ExpireAt), nil
}

// decode reads what scoresDelta appended, without its first two bytes, into an edit of a sorted set that is empty. The edit borrows it.
func (e *scoreEdit) decode(z zset, body []byte) (ok bool) {
	for len(body) > 0 {
		name, remove, end, ok := named(body)
		if !ok {
			return false
		}
		c := e.of(z, name)
		if c.remove = remove; !c.remove {
			var size int
			if c.score, size, ok = checkedScore(body[end:]); !ok {
				return false
			}
			end += size
		}
		body = body[end:]
	}
	return len(e.list) > 0
}
