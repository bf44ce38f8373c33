package datatype

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"
)

// integers is a set of integers, packed: integersTag, how many bytes each of them takes (1, 2, 4 or 8: no more than the widest needs), and they themselves,
// ascending, little-endian. It is Redis' intset. No integers are no bytes at all.
type integers []byte

const (
	// integersTag is the first byte of packed integers. Other packed members begin with how many they are, which is never zero.
	integersTag = 0
	// integersHead is how many bytes come before the first one.
	integersHead = 2
	// maxIntegers is how many are packed at most (set-max-intset-entries).
	maxIntegers = 512
)

// isIntegers reports whether a value is packed integers.
func isIntegers(value []byte) bool { return len(value) > 0 && value[0] == integersTag }

// count returns how many there are.
func (s integers) count() int {
	if len(s) <= integersHead || !isWidth(s[1]) {
		return 0
	}
	return (len(s) - integersHead) / int(s[1])
}

// isWidth reports whether integers may take so many bytes.
func isWidth(n byte) bool { return n == 1 || n == 2 || n == 4 || n == 8 }

// at returns the one of a rank.
func (s integers) at(rank int) int64 {
	switch at := s[integersHead+rank*int(s[1]):]; s[1] {
	case 1:
		return int64(int8(at[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(at)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(at)))
	default:
		return int64(binary.LittleEndian.Uint64(at))
	}
}

// find returns the rank of an integer, or which it would have.
func (s integers) find(v int64) (rank int, found bool) {
	n := s.count()
	rank = sort.Search(n, func(i int) bool { return s.at(i) >= v })
	return rank, rank < n && s.at(rank) == v
}

// has reports whether bytes are an integer that is there.
func (s integers) has(member []byte) bool {
	v, ok := parseInt(member)
	if !ok {
		return false
	}
	_, found := s.find(v)
	return found
}

// all goes through them as they are written.
func (s integers) all() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		var text []byte
		for i := range s.count() {
			from := len(text)
			text = strconv.AppendInt(text, s.at(i), 10)
			if !yield(text[from:len(text):len(text)], nil) {
				return
			}
		}
	}
}

// list appends them to a list.
func (s integers) list(to []int64) []int64 {
	for i := range s.count() {
		to = append(to, s.at(i))
	}
	return to
}

// valid reports whether bytes from elsewhere are packed integers, in the only form that these have.
func (s integers) valid() bool {
	if len(s) <= integersHead || s[0] != integersTag || !isWidth(s[1]) || (len(s)-integersHead)%int(s[1]) != 0 {
		return false
	}
	n := s.count()
	for i := 1; i < n; i++ {
		if s.at(i-1) >= s.at(i) {
			return false
		}
	}
	return n <= maxIntegers && int(s[1]) == width(s.at(0), s.at(n-1))
}

// width returns how many bytes each of some integers takes, of which these are the lowest and the highest.
func width(low, high int64) int {
	switch {
	case low >= math.MinInt8 && high <= math.MaxInt8:
		return 1
	case low >= math.MinInt16 && high <= math.MaxInt16:
		return 2
	case low >= math.MinInt32 && high <= math.MaxInt32:
		return 4
	}
	return 8
}

// appendInteger appends one that takes so many bytes.
func appendInteger(dst []byte, v int64, width int) []byte {
	switch width {
	case 1:
		return append(dst, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(dst, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

// packIntegers packs a list that is ascending.
func packIntegers(list []int64, s *space) integers {
	if len(list) == 0 {
		return nil
	}
	w := width(list[0], list[len(list)-1])
	packed := append(s.take(integersHead+w*len(list)), integersTag, byte(w))
	for _, v := range list {
		packed = appendInteger(packed, v, w)
	}
	return packed
}

// changed returns the integers with one more, or one less, which has a rank.
func (s integers) changed(v int64, rank int, remove bool, room *space) integers {
	var list [maxIntegers + 1]int64
	all := s.list(list[:0])
	if remove {
		return packIntegers(slices.Delete(all, rank, rank+1), room)
	}
	return packIntegers(slices.Insert(all, rank, v), room)
}
