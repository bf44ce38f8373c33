package lcs

import "github.com/quolldb/quoll/internal/resp"

// steps says for each pair of prefixes that end in different bytes whether the
// common subsequence is found by shortening a (a set bit) or b. It has one bit for
// each cell (i, j), 1-based, of the table of dynamic programming; the lengths
// themselves are only needed row by row.
type steps struct {
	bits []uint64
	cols int
}

func (s *steps) index(i, j int) (word int, mask uint64) {
	cell := (i-1)*s.cols + j - 1
	return cell >> 6, 1 << (cell & 63)
}

func (s *steps) shortenA(i, j int) bool {
	word, mask := s.index(i, j)
	return s.bits[word]&mask != 0
}

// fill runs the dynamic programming and returns the length of the longest common
// subsequence, and the way to it if withSteps.
func fill(a, b []byte, withSteps bool) (length int, way steps) {
	way.cols = len(b)
	if withSteps {
		way.bits = make([]uint64, (len(a)*len(b)+63)/64)
	}
	above, row := make([]uint32, len(b)+1), make([]uint32, len(b)+1)
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			switch up, left := above[j], row[j-1]; {
			case a[i-1] == b[j-1]:
				row[j] = above[j-1] + 1
			case up > left:
				row[j] = up
				if withSteps {
					word, mask := way.index(i, j)
					way.bits[word] |= mask
				}
			default:
				row[j] = left
			}
		}
		above, row = row, above
	}
	return int(above[len(b)]), way
}

// match is a stretch of consecutive bytes of the common subsequence that are
// consecutive in both values. Both ends are included.
type match struct{ aStart, aEnd, bStart, bEnd int }

func (m match) len() int64 { return int64(m.aEnd-m.aStart) + 1 }

func (m match) append(dst []byte, withLen bool) []byte {
	n := 2
	if withLen {
		n = 3
	}
	dst = resp.AppendArray(dst, n)
	for _, ends := range [...][2]int{{m.aStart, m.aEnd}, {m.bStart, m.bEnd}} {
		dst = resp.AppendArray(dst, 2)
		dst = resp.AppendInt(dst, int64(ends[0]))
		dst = resp.AppendInt(dst, int64(ends[1]))
	}
	if withLen {
		dst = resp.AppendInt(dst, m.len())
	}
	return dst
}

// trace walks from the ends of a and b to their beginnings. It returns the matches,
// last first, and writes the common subsequence to common if that is not nil.
func trace(a, b []byte, way steps, common []byte) []match {
	var matches []match
	open := false // whether the last match may still grow
	at := len(common)
	for i, j := len(a), len(b); i > 0 && j > 0; {
		if a[i-1] != b[j-1] {
			open = false
			if way.shortenA(i, j) {
				i--
			} else {
				j--
			}
			continue
		}
		i, j = i-1, j-1
		if at > 0 {
			at--
			common[at] = a[i]
		}
		if !open {
			matches = append(matches, match{aStart: i, aEnd: i, bStart: j, bEnd: j})
			open = true
			continue
		}
		last := &matches[len(matches)-1]
		last.aStart, last.bStart = i, j
	}
	return matches
}
