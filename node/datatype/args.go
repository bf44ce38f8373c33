package datatype

import "math"

// maxIntDigits is the number of digits of the largest int64.
const maxIntDigits = 19

// parseInt reads a decimal integer as strictly as Redis does: an optional minus
// sign and digits without leading zeros; no plus sign, no spaces, no "-0".
func parseInt(b []byte) (int64, bool) {
	digits := b
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > maxIntDigits {
		return 0, false
	}
	if digits[0] == '0' {
		return 0, len(b) == 1
	}
	var n uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	if negative {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n <= math.MaxInt64
}

// parseInts reads two integers, as the ends of a range are, or an offset and a count.
func parseInts(a, b []byte) (first, second int64, ok bool) {
	first, ok = parseInt(a)
	second, is := parseInt(b)
	return first, second, ok && is
}

// isWord reports whether an argument is the given lower-case ASCII word in any
// case.
func isWord(arg []byte, word string) bool {
	if len(arg) != len(word) {
		return false
	}
	for i, c := range arg {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
