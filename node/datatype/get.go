package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// get serves GET.
func get(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	return appendValue(dst, st, req.RESP3), noEffect
}

// mget serves one key of MGET, for which other types are absent.
func mget(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.String) {
		st = record.State{}
	}
	return appendValue(dst, st, req.RESP3), noEffect
}

// strlen serves STRLEN.
func strlen(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	return resp.AppendInt(dst, int64(textIn(st).size())), noEffect
}

// getDel serves GETDEL.
func getDel(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	dst = appendValue(dst, st, req.RESP3)
	if !st.Live() {
		return dst, noEffect
	}
	return dst, deleted()
}

// getEx serves GETEX, which reads a value and changes its expiry.
func getEx(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	opts, ok := parseGetOptions(req.Args[2:])
	if !ok {
		return refuse(dst, errSyntax)
	}
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	if !st.Live() { // before the expiry is looked at, as Redis does
		return appendValue(dst, st, req.RESP3), noEffect
	}
	at, problem := opts.deadline(req, now)
	if problem != "" {
		return refuse(dst, problem)
	}
	dst = appendValue(dst, st, req.RESP3)
	switch {
	case opts.ttl == ttlUnset, opts.ttl == ttlPersist && st.ExpireAt == 0:
		return dst, noEffect
	case at != 0 && at <= now:
		return dst, deleted()
	}
	return dst, expiryChanged(st, at)
}
