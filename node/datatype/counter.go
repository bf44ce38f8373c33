package datatype

import (
	"math"
	"strconv"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// incr serves INCR.
func incr(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	return addInt(dst, st, 1)
}

// decr serves DECR.
func decr(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	return addInt(dst, st, -1)
}

// incrBy serves INCRBY.
func incrBy(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	by, ok := parseInt(req.Args[2])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	return addInt(dst, st, by)
}

// decrBy serves DECRBY.
func decrBy(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	by, ok := parseInt(req.Args[2])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	if by == math.MinInt64 { // has no negative
		return refuse(dst, errDecrOverflow)
	}
	return addInt(dst, st, -by)
}

// addInt adds to an integer value, for which an absent key is 0. The expiry stays.
func addInt(dst []byte, st record.State, by int64) ([]byte, record.Effect) {
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	var n int64
	if st.Live() {
		var ok bool
		if n, ok = parseInt(textIn(st).number()); !ok {
			return refuse(dst, errNotInteger)
		}
	}
	if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
		return refuse(dst, errOverflow)
	}
	n += by
	var room [maxIntDigits + 1]byte
	value := buffer.Clone(strconv.AppendInt(room[:0], n, 10))
	return resp.AppendInt(dst, n), record.Effect{Kind: record.Replaced, State: stringOf(st, value)}
}
