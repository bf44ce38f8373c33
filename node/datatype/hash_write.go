package datatype

import (
	"math"
	"math/big"
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// hSet serves HSET: how many fields are new.
func hSet(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return setFields(dst, st, req, func(dst []byte, added int) []byte { return resp.AppendInt(dst, int64(added)) })
}

// hMSet serves HMSET.
func hMSet(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return setFields(dst, st, req, func(dst []byte, _ int) []byte { return append(dst, resp.OK...) })
}

// setFields sets fields. reply appends what is replied if so many are new.
func setFields(dst []byte, st record.State, req *command.Request, reply func(dst []byte, added int) []byte) ([]byte, record.Effect) {
	if len(req.Args)%2 != 0 {
		return refuse(dst, errArity(req))
	}
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	var e edit
	for i := 2; i < len(req.Args); i += 2 {
		e.add(fieldChange{field: req.Args[i], value: req.Args[i+1]})
	}
	next, found := e.apply(hashIn(st))
	return e.run(reply(dst, len(e.list)-found), len(dst), st, next, req)
}

// run returns a reply, which begins at start in dst, and the effect of the changes, which make the hash next; or an error.
func (e *edit) run(dst []byte, start int, st record.State, next hash, req *command.Request) ([]byte, record.Effect) {
	eff, fits := e.effect(st, next, longest(req))
	if !fits {
		return refuse(dst[:start], errHashTooLong)
	}
	return dst, eff
}

// hSetNX serves HSETNX.
func hSetNX(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	if _, found := hashIn(st).get(req.Args[2]); found {
		return appendBool(dst, false), noEffect
	}
	return setField(appendBool(dst, true), len(dst), st, req, req.Args[3])
}

// setField sets the field that a command names to a value. The reply begins at start in dst.
func setField(dst []byte, start int, st record.State, req *command.Request, value []byte) ([]byte, record.Effect) {
	var e edit
	e.add(fieldChange{field: req.Args[2], value: value})
	next, _ := e.apply(hashIn(st))
	return e.run(dst, start, st, next, req)
}

// hDel serves HDEL: how many of the fields were there.
func hDel(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	var e edit
	for _, field := range req.Args[2:] {
		e.add(fieldChange{field: field, remove: true})
	}
	next, found := e.apply(hashIn(st))
	reply := resp.AppendInt(dst, int64(found))
	if found == 0 {
		return reply, noEffect
	}
	return e.run(reply, len(dst), st, next, req)
}

// hIncrBy serves HINCRBY, for which an absent field is 0.
func hIncrBy(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	by, ok := parseInt(req.Args[3])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	var n int64
	if value, found := hashIn(st).get(req.Args[2]); found {
		if n, ok = parseInt(value); !ok {
			return refuse(dst, errFieldNotInteger)
		}
	}
	if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
		return refuse(dst, errOverflow)
	}
	var room [maxIntDigits + 1]byte
	value := strconv.AppendInt(room[:0], n+by, 10)
	return setField(resp.AppendInt(dst, n+by), len(dst), st, req, value)
}

// hIncrByFloat serves HINCRBYFLOAT, for which an absent field is 0. See incrByFloat.
func hIncrByFloat(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	by, ok := parseLongDouble(req.Args[3])
	switch {
	case !ok:
		return refuse(dst, errNotFloat)
	case by.IsInf():
		return refuse(dst, errNotFinite)
	case holdsOther(st, record.Hash):
		return refuse(dst, errWrongType)
	}
	n := new(big.Float)
	if value, found := hashIn(st).get(req.Args[2]); found {
		if n, ok = parseLongDouble(value); !ok {
			return refuse(dst, errFieldNotFloat)
		}
	}
	if n.IsInf() {
		return refuse(dst, errFloatRange)
	}
	sum := newLongDouble().Add(n, by)
	if sum.MantExp(nil) > maxLongDoubleExp {
		return refuse(dst, errFloatRange)
	}
	value := formatLongDouble(sum)
	return setField(resp.AppendBulk(dst, value), len(dst), st, req, value)
}
