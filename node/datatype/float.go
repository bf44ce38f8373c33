package datatype

import (
	"bytes"
	"math/big"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// incrByFloat serves INCRBYFLOAT. Redis computes in C's long double, which is the
// x87 format of 64 mantissa bits on the machines it is mostly run on, so this does
// too. The expiry stays.
func incrByFloat(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	n, ok := new(big.Float), true
	if st.Live() {
		n, ok = parseLongDouble(textIn(st).number())
	}
	by, byOK := parseLongDouble(req.Args[2])
	if !ok || !byOK {
		return refuse(dst, errNotFloat)
	}
	if n.IsInf() || by.IsInf() {
		return refuse(dst, errFloatRange)
	}
	sum := newLongDouble().Add(n, by)
	if sum.MantExp(nil) > maxLongDoubleExp {
		return refuse(dst, errFloatRange)
	}
	value := formatLongDouble(sum)
	return resp.AppendBulk(dst, value), record.Effect{Kind: record.Replaced, State: stringOf(st, value)}
}

// The exponents of the largest long doubles, and of the numbers that at best round up
// to the smallest. The mantissa is in [0.5, 1), as math/big has it.
const (
	maxLongDoubleExp = 16384
	minLongDoubleExp = -16445
)

// newLongDouble returns a zero with the precision and rounding of a long double.
func newLongDouble() *big.Float { return new(big.Float).SetPrec(64).SetMode(big.ToNearestEven) }

// formatLongDouble writes a number as Redis does: C's %.17Lf without trailing zeros.
func formatLongDouble(x *big.Float) []byte {
	text := x.Append(nil, 'f', 17)
	text = bytes.TrimRight(text, "0")
	text = bytes.TrimSuffix(text, []byte{'.'})
	if string(text) == "-0" {
		text = text[1:]
	}
	return buffer.Clone(text)
}
