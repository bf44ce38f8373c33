package datatype

import (
	"bytes"
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// expire serves EXPIRE.
func expire(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	return setExpiry(dst, st, req, now, now, 1000)
}

// pExpire serves PEXPIRE.
func pExpire(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	return setExpiry(dst, st, req, now, now, 1)
}

// expireAt serves EXPIREAT.
func expireAt(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	return setExpiry(dst, st, req, now, 0, 1000)
}

// pExpireAt serves PEXPIREAT.
func pExpireAt(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	return setExpiry(dst, st, req, now, 0, 1)
}

// setExpiry sets the expiry to base plus the argument, which counts units of the given
// number of milliseconds. An expiry in the past deletes the key.
func setExpiry(dst []byte, st record.State, req *command.Request, now, base, unit int64) ([]byte, record.Effect) {
	cond, problem := parseExpireConditions(req.Args[3:])
	if problem != "" {
		return refuse(dst, problem)
	}
	at, ok := parseInt(req.Args[2])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	if at > math.MaxInt64/unit || at < math.MinInt64/unit || at*unit > math.MaxInt64-base {
		return refuse(dst, errExpireTime(req))
	}
	at = at*unit + base
	if !st.Live() || !cond.allow(st.ExpireAt, at) {
		return appendBool(dst, false), noEffect
	}
	dst = appendBool(dst, true)
	if at <= now {
		return dst, deleted()
	}
	return dst, expiryChanged(st, at)
}

// persist serves PERSIST.
func persist(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if st.ExpireAt == 0 {
		return appendBool(dst, false), noEffect
	}
	return appendBool(dst, true), expiryChanged(st, 0)
}

// expireConditions are the options of the EXPIRE family.
type expireConditions struct{ nx, xx, gt, lt bool }

func parseExpireConditions(args [][]byte) (cond expireConditions, problem string) {
	for _, arg := range args {
		switch {
		case isWord(arg, "nx"):
			cond.nx = true
		case isWord(arg, "xx"):
			cond.xx = true
		case isWord(arg, "gt"):
			cond.gt = true
		case isWord(arg, "lt"):
			cond.lt = true
		default:
			shown, _, _ := bytes.Cut(arg, []byte{0}) // to Redis it is a string of C here
			return cond, "ERR Unsupported option " + string(shown)
		}
	}
	if cond.nx && (cond.xx || cond.gt || cond.lt) {
		return cond, errNXWithOther
	}
	if cond.gt && cond.lt {
		return cond, errGTWithLT
	}
	return cond, ""
}

// allow reports whether the expiry may go from old (0 for none) to at. No expiry
// counts as one later than any other.
func (c expireConditions) allow(old, at int64) bool {
	switch {
	case c.nx && old != 0, c.xx && old == 0:
		return false
	case c.gt && (old == 0 || at <= old):
		return false
	case c.lt && old != 0 && at >= old:
		return false
	}
	return true
}
