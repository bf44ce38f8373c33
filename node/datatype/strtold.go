package datatype

import (
	"bytes"
	"math/big"
)

const (
	// maxFloatText is the length of the longest number that Redis 7.0 reads.
	maxFloatText = 5*1024 - 1
	// maxExponent is where exponents saturate: far out of the range of a long double
	// even with all the digits that can stand before it, in base 2 and in base 10.
	maxExponent = 1 << 16
	// maxDecimalExp is beyond the exponent of ten of any long double (4932, -4951).
	maxDecimalExp = 5000
)

// parseLongDouble reads a number as C's strtold does, exactly rounded: decimal or
// hexadecimal, or an infinity. Spaces, NaN and what is out of range are refused, as
// Redis does.
func parseLongDouble(b []byte) (*big.Float, bool) {
	if len(b) > maxFloatText {
		return nil, false
	}
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if isWord(b, "inf") || isWord(b, "infinity") {
		return newLongDouble().SetInf(negative), true
	}
	x, ok := parseMagnitude(b)
	if ok && negative {
		x.Neg(x)
	}
	return x, ok
}

// parseMagnitude reads an unsigned finite number.
func parseMagnitude(b []byte) (*big.Float, bool) {
	base, exponentMark := 10, byte('e')
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		base, exponentMark, b = 16, 'p', b[2:]
	}
	digits, fraction, rest := splitDigits(b, base)
	if len(digits) == 0 {
		return nil, false
	}
	exponent := 0
	if len(rest) > 0 {
		var ok bool
		if exponent, ok = parseExponent(rest, exponentMark); !ok {
			return nil, false
		}
	}
	x := newLongDouble()
	digits = bytes.TrimLeft(digits, "0")
	if len(digits) == 0 {
		return x, true
	}
	if base == 16 {
		mantissa, _ := new(big.Int).SetString(string(digits), base)
		x.SetMantExp(x.SetInt(mantissa), exponent-4*fraction)
	} else if !setDecimal(x, string(digits), exponent-fraction) {
		return nil, false
	}
	return x, isLongDouble(x)
}

// splitDigits takes the digits and the point from the front of b. It returns the
// digits without the point, and how many of them came after it.
func splitDigits(b []byte, base int) (digits []byte, fraction int, rest []byte) {
	point := false
	for len(b) > 0 {
		switch c := b[0]; {
		case isDigit(c, base):
			digits = append(digits, c)
			if point {
				fraction++
			}
		case c == '.' && !point:
			point = true
		default:
			return digits, fraction, b
		}
		b = b[1:]
	}
	return digits, fraction, nil
}

func isDigit(c byte, base int) bool {
	lower := c | 0x20
	return '0' <= c && c <= '9' || base == 16 && 'a' <= lower && lower <= 'f'
}

// parseExponent reads all of b as an exponent, saturating at maxExponent.
func parseExponent(b []byte, mark byte) (int, bool) {
	if b[0]|0x20 != mark {
		return 0, false
	}
	b = b[1:]
	sign := 1
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		if b[0] == '-' {
			sign = -1
		}
		b = b[1:]
	}
	n := 0
	for _, c := range b {
		if !isDigit(c, 10) {
			return 0, false
		}
		n = min(n*10+int(c-'0'), maxExponent)
	}
	return sign * n, len(b) > 0
}

// setDecimal sets x to digits * 10^exponent, rounded once. math/big's own parser rounds
// twice and is sometimes off by one bit. It returns false, before it computes with
// huge numbers, for what is clearly out of range.
func setDecimal(x *big.Float, digits string, exponent int) bool {
	if first := len(digits) + exponent; first > maxDecimalExp || first < -maxDecimalExp {
		return false
	}
	mantissa, _ := new(big.Int).SetString(digits, 10)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent >= 0 {
		x.SetInt(power.Mul(power, mantissa))
	} else { // Floats of precision 0 take integers exactly.
		x.Quo(new(big.Float).SetInt(mantissa), new(big.Float).SetInt(power))
	}
	return true
}

// isLongDouble reports whether x, positive, neither overflows nor becomes zero as a long
// double. What is lost to denormal numbers between is far below the digits that Redis
// shows.
func isLongDouble(x *big.Float) bool {
	exp := x.MantExp(nil)
	if exp == minLongDoubleExp {
		return x.MinPrec() > 1 // half of the smallest number rounds to even: to zero
	}
	return exp <= maxLongDoubleExp && exp > minLongDoubleExp
}
