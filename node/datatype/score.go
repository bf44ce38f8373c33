package datatype

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/quolldb/quoll/internal/command"
)

// parseScore reads a score as Redis reads its arguments (string2d): all of it is what C's strtod reads, it is a number, and no zero or infinity only because
// it is too small or too large.
func parseScore(b []byte) (float64, bool) {
	f, exact, ok := parseDouble(b)
	return f, ok && exact
}

// parseBound reads the end of a range of scores, which Redis gives to strtod as it is: it may begin with spaces, be empty, too small or too large, and ends
// with a zero byte.
func parseBound(b []byte) (bound scoreBound, ok bool) {
	b = command.UntilZero(b)
	if len(b) > 0 && b[0] == '(' {
		bound.open, b = true, b[1:]
	}
	if len(b) == 0 {
		return bound, true
	}
	bound.score, _, ok = parseDouble(bytes.TrimLeft(b, " \t\n\v\f\r"))
	return bound, ok
}

// parseDouble reads what C's strtod reads, all of it, but no NaN. exact is false for a number that is out of range, and became zero or infinite.
func parseDouble(b []byte) (f float64, exact, ok bool) {
	unsigned := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		unsigned = b[1:]
	}
	if len(unsigned) == 0 || bytes.IndexByte(b, '_') >= 0 { // which Go allows in numbers
		return 0, false, false
	}
	text := string(b)
	isHex := len(unsigned) > 2 && unsigned[0] == '0' && unsigned[1]|0x20 == 'x'
	if isHex && !bytes.ContainsAny(unsigned, "pP") {
		text += "p0" // Go wants it
	}
	f, err := strconv.ParseFloat(text, 64)
	switch infinite := math.IsInf(f, 0); {
	case infinite && err != nil: // out of range
		return f, false, true
	case err != nil || math.IsNaN(f):
		return 0, false, false
	case f == 0:
		return f, !hasDigits(unsigned, isHex), true
	}
	return f, true, true
}

// hasDigits reports whether a number, which was read, has another digit than zero before its exponent.
func hasDigits(unsigned []byte, isHex bool) bool {
	base, mark := 10, "eE"
	if isHex {
		base, mark, unsigned = 16, "pP", unsigned[2:]
	}
	if end := bytes.IndexAny(unsigned, mark); end >= 0 {
		unsigned = unsigned[:end]
	}
	for _, c := range unsigned {
		if c != '0' && isDigit(c, base) {
			return true
		}
	}
	return false
}

// How a score is kept: a byte that says how many follow, and these. An integer of up to maxShort bytes is kept as one, twice its
// value, or one less than twice what is below zero (zigzag); all others are the bits of the float64. There is one way to keep a score. Bytes
// have the lowest first. Minus zero becomes zero, as it does in Redis' small sorted sets.
const (
	maxShort  = 6
	longScore = 8
)

// zigzag returns the integer that a score is kept as.
func zigzag(f float64) (n uint64, ok bool) {
	const limit = 1 << (8*maxShort - 1)
	if !(-limit <= f && f < limit) {
		return 0, false
	}
	i := int64(f)
	if float64(i) != f {
		return 0, false
	}
	return uint64(i)<<1 ^ uint64(i>>63), true
}

// scoreSize is how many bytes appendCode appends.
func scoreSize(f float64) int {
	n, ok := zigzag(f)
	if !ok {
		return 1 + longScore
	}
	return 1 + shortSize(n)
}

func shortSize(n uint64) (size int) {
	for ; n > 0; n >>= 8 {
		size++
	}
	return size
}

// appendCode appends a score as it is kept.
func appendCode(dst []byte, f float64) []byte {
	n, ok := zigzag(f)
	if !ok {
		return binary.LittleEndian.AppendUint64(append(dst, longScore), math.Float64bits(f))
	}
	dst = append(dst, byte(shortSize(n)))
	for ; n > 0; n >>= 8 {
		dst = append(dst, byte(n))
	}
	return dst
}

// codedScore reads a score that appendCode appended, which was checked.
func codedScore(b []byte) (f float64, size int) {
	size = 1 + int(b[0])
	if b[0] == longScore {
		return math.Float64frombits(binary.LittleEndian.Uint64(b[1:])), size
	}
	var n uint64
	for i := size - 1; i > 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return float64(int64(n>>1) ^ -int64(n&1)), size
}

// checkedScore is codedScore of bytes from elsewhere. It reports false for what appendCode does not append.
func checkedScore(b []byte) (f float64, size int, ok bool) {
	if len(b) == 0 || b[0] > maxShort && b[0] != longScore || int(b[0]) >= len(b) {
		return 0, 0, false
	}
	f, size = codedScore(b)
	return f, size, !math.IsNaN(f) && scoreSize(f) == size
}
