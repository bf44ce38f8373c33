package script

import (
	"math"
	"strconv"
	"strings"
)

// appendG appends a number as C's printf does for %.{precision}g.
func appendG(dst []byte, f float64, precision int) []byte {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return append(dst, "-nan"...)
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f == math.Trunc(f) && math.Abs(f) < 1e14 && (f != 0 || !math.Signbit(f)):
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', precision, 64)
}

// formatNumber is a number as Lua writes it.
func formatNumber(f float64) string {
	if f >= 0 && f < 10 && f == math.Trunc(f) && !math.Signbit(f) {
		return "0123456789"[int(f) : int(f)+1]
	}
	var buf [32]byte
	return string(appendG(buf[:0], f, 14))
}

// isSpace is C's isspace.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// untilZero returns what C takes for a text: what is behind a zero byte it does not see.
func untilZero(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

// parseNumber reads a number as Lua 5.1 does with strtod: decimal or hexadecimal, with spaces around it.
func parseNumber(s string) (f float64, ok bool) {
	s = untilZero(s)
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	bare := s
	if bare != "" && (bare[0] == '-' || bare[0] == '+') {
		bare = bare[1:]
	}
	if bare == "" || strings.ContainsRune(bare, '_') {
		return 0, false
	}
	if len(bare) > 1 && bare[0] == '0' && (bare[1] == 'x' || bare[1] == 'X') {
		return parseHex(s, bare[2:])
	}
	if strings.EqualFold(bare, "nan") { // strtod takes a sign there, too
		return math.NaN(), true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err == nil {
		return f, true
	}
	return f, math.IsInf(f, 0) // too large: as strtod
}

// parseHex reads what follows 0x; s has the sign.
func parseHex(s, digits string) (f float64, ok bool) {
	if strings.ContainsAny(digits, ".pP") {
		if !strings.ContainsAny(digits, "pP") {
			s += "p0"
		}
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil || math.IsInf(f, 0)
	}
	for i := range len(digits) {
		d := digit(digits[i])
		if d >= 16 {
			return 0, false
		}
		f = f*16 + float64(d)
	}
	if s[0] == '-' {
		f = -f
	}
	return f, digits != ""
}

// digit is the value of a digit or letter, or 99.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return 99
}

// toInteger truncates a number as C does on x86, where what does not fit is the least integer.
func toInteger(f float64) int64 {
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}
