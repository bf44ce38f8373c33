package resp

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/redcon"

	"github.com/quolldb/quoll/internal/buffer"
)

// OK is the simple string reply that most writes give.
const OK = "+OK\r\n"

// Integers, arrays and errors are redcon's, of a reply of one digit in half the time. Its simple strings, nulls and bulk strings take up to three times as
// long as ours, and are not used: BenchmarkAppend.

// AppendSimple appends a simple string. s must not contain CR or LF.
func AppendSimple(dst []byte, s string) []byte {
	dst = append(dst, '+')
	dst = append(dst, s...)
	return append(dst, '\r', '\n')
}

// AppendError appends an error reply. text begins with the error word ("ERR ...").
// CR and LF in it become spaces, so that a client's bytes in an error text cannot
// forge a reply; those at its end are left out, as in Redis.
func AppendError(dst []byte, text string) []byte {
	return redcon.AppendError(dst, strings.TrimRight(text, "\r\n"))
}

// AppendInt appends an integer reply.
func AppendInt(dst []byte, n int64) []byte { return redcon.AppendInt(dst, n) }

// AppendBulk appends a bulk string.
func AppendBulk[T ~string | ~[]byte](dst []byte, value T) []byte {
	dst = append(dst, '$')
	dst = strconv.AppendInt(dst, int64(len(value)), 10)
	dst = append(dst, '\r', '\n')
	dst = buffer.Append(dst, value)
	return append(dst, '\r', '\n')
}

// AppendNull appends the null reply of RESP2 ($-1) or RESP3 (_).
func AppendNull(dst []byte, resp3 bool) []byte {
	if resp3 {
		return append(dst, "_\r\n"...)
	}
	return append(dst, "$-1\r\n"...)
}

// AppendNullArray appends the null array of RESP2 (*-1) or the null of RESP3 (_).
func AppendNullArray(dst []byte, resp3 bool) []byte {
	if resp3 {
		return append(dst, "_\r\n"...)
	}
	return append(dst, "*-1\r\n"...)
}

// AppendArray appends the header of an array of n replies.
func AppendArray(dst []byte, n int) []byte { return redcon.AppendArray(dst, n) }

// AppendMap appends the header of a map of n pairs: in RESP2 an array of 2n.
func AppendMap(dst []byte, n int, resp3 bool) []byte {
	if resp3 {
		return appendHeader(dst, '%', n)
	}
	return AppendArray(dst, 2*n)
}

// AppendSet appends the header of a set of n replies: in RESP2 an array.
func AppendSet(dst []byte, n int, resp3 bool) []byte {
	if resp3 {
		return appendHeader(dst, '~', n)
	}
	return AppendArray(dst, n)
}

// AppendVerbatim appends text as a verbatim string of format txt, in RESP2 as a bulk string.
func AppendVerbatim(dst []byte, text string, resp3 bool) []byte {
	if !resp3 {
		return AppendBulk(dst, text)
	}
	dst = appendHeader(dst, '=', len(text)+4)
	dst = append(dst, "txt:"...)
	dst = append(dst, text...)
	return append(dst, '\r', '\n')
}

// AppendDouble appends a double, in RESP2 as a bulk string: as Redis 7.0 does, with 17 digits (C's %.17g), whether fewer would say the same or not.
func AppendDouble(dst []byte, f float64, resp3 bool) []byte {
	var room [32]byte
	text := FormatDouble(room[:0], f)
	if !resp3 {
		return AppendBulk(dst, text)
	}
	return append(append(append(dst, ','), text...), "\r\n"...)
}

// FormatDouble appends what AppendDouble writes of a double.
func FormatDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case math.IsNaN(f):
		return append(dst, "nan"...)
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}

func appendHeader(dst []byte, kind byte, n int) []byte {
	dst = append(dst, kind)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, '\r', '\n')
}
