package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// set serves SET, and one pair of MSET.
func set(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	opts, ok := parseSetOptions(req.Args[3:])
	if !ok {
		return refuse(dst, errSyntax)
	}
	return assign(dst, st, req, req.Args[2], opts, now)
}

// setEX serves SETEX.
func setEX(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	return assign(dst, st, req, req.Args[3], stringOptions{ttl: ttlEX, amount: req.Args[2]}, now)
}

// pSetEX serves PSETEX.
func pSetEX(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	return assign(dst, st, req, req.Args[3], stringOptions{ttl: ttlPX, amount: req.Args[2]}, now)
}

// getSet serves GETSET.
func getSet(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	return assign(dst, st, req, req.Args[2], stringOptions{get: true}, now)
}

// setNX serves SETNX.
func setNX(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	if st.Live() {
		return appendBool(dst, false), noEffect
	}
	return appendBool(dst, true), replaced(record.State{Type: record.String, Value: keep(req, req.Args[2])}, now)
}

// assign is SET with its options parsed. Without the option GET it replaces a
// value of any type.
func assign(dst []byte, st record.State, req *command.Request, value []byte, opts stringOptions, now int64) (
	[]byte, record.Effect,
) {
	at, problem := opts.deadline(req, now)
	if problem != "" {
		return refuse(dst, problem)
	}
	if opts.get && holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	write := !(opts.nx && st.Live() || opts.xx && !st.Live())
	switch {
	case opts.get:
		dst = appendValue(dst, st, req.RESP3)
	case write:
		dst = append(dst, resp.OK...)
	default:
		dst = resp.AppendNull(dst, req.RESP3)
	}
	if !write {
		return dst, noEffect
	}
	if opts.ttl == ttlKeep {
		at = st.ExpireAt
	}
	return dst, replaced(record.State{Type: record.String, ExpireAt: at, Value: keep(req, value)}, now)
}
