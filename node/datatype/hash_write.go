package datatype

import (
	"math"
	"math/big"

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
	if len(req.Args) == 4 && st.Object == nil { // of an object the change says by itself whether the field was there
		old := hashIn(st).locate(req.Args[2])
		added := 1
		if old.found {
			added = 0
		}
		return setField(reply(dst, added), len(dst), st, req, old, req.Args[3])
	}
	var room [usual]fieldChange
	e := edit{list: room[:0]}
	for i := 2; i < len(req.Args); i += 2 {
		e = e.add(fieldChange{field: req.Args[i], value: req.Args[i+1]})
	}
	dst, s := e.space(dst, hashIn(st))
	next, found := e.apply(hashIn(st), &s)
	return run(e, reply(dst, len(e.list)-found), len(dst), st, next, req, &s)
}

// run returns a reply, which begins at start in dst, and the effect of the changes, which make the contents next; or an error.
func run[C contents](e edit, dst []byte, start int, st record.State, next C, req *command.Request, s *space) ([]byte, record.Effect) {
	eff, fits := effectOf(e, st, next, longestCollection(req), s)
	if !fits {
		return refuse(dst[:start], errTooLong(next.state(0).Type))
	}
	return dst, eff
}

// hSetNX serves HSETNX.
func hSetNX(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	old := hashIn(st).locate(req.Args[2])
	if old.found {
		return appendBool(dst, false), noEffect
	}
	return setField(appendBool(dst, true), len(dst), st, req, old, req.Args[3])
}

// setField sets the field that a command names, which was located, to a value. The reply begins at start in dst.
func setField(dst []byte, start int, st record.State, req *command.Request, old located, value []byte) ([]byte, record.Effect) {
	if old.found && len(old.value) == len(value) {
		if eff, ok := patched(req, st, old.end-len(value), value); ok {
			return dst, eff
		}
	}
	h, changes := hashIn(st), [1]fieldChange{{field: req.Args[2], value: value}}
	e := edit{list: changes[:]}
	dst, s := e.space(dst, h)
	if h.parts != nil {
		next, _ := e.apply(h, &s)
		return run(e, dst, start, st, next, req, &s)
	}
	hits := [1]hit{{start: old.start, end: old.end}}
	n := 0
	if old.found {
		n = 1
	}
	return run(e, dst, start, st, e.applyPacked(h.packed, hits[:n], &s).settled(), req, &s)
}

// hDel serves HDEL: how many of the fields were there.
func hDel(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	var room [usual]fieldChange
	e := edit{list: room[:0]}
	for _, field := range req.Args[2:] {
		e = e.add(fieldChange{field: field, remove: true})
	}
	dst, s := e.space(dst, hashIn(st))
	next, found := e.apply(hashIn(st), &s)
	reply := resp.AppendInt(dst, int64(found))
	if found == 0 {
		return reply, noEffect
	}
	return run(e, reply, len(dst), st, next, req, &s)
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
	old := hashIn(st).locate(req.Args[2])
	if old.found {
		if n, ok = parseInt(old.value); !ok {
			return refuse(dst, errFieldNotInteger)
		}
	}
	if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
		return refuse(dst, errOverflow)
	}
	reply := resp.AppendInt(dst, n+by)
	return setField(reply, len(dst), st, req, old, reply[len(dst)+len(":"):len(reply)-len("\r\n")])
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
	n, old := new(big.Float), hashIn(st).locate(req.Args[2])
	if old.found {
		if n, ok = parseLongDouble(old.value); !ok {
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
	return setField(resp.AppendBulk(dst, value), len(dst), st, req, old, value)
}
