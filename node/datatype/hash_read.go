package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// hGet serves HGET.
func hGet(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	return appendField(dst, hashIn(st), req.Args[2], req.RESP3), noEffect
}

// appendField appends the value of a field, or null.
func appendField(dst []byte, h hash, field []byte, resp3 bool) []byte {
	value, found := h.get(field)
	if !found {
		return resp.AppendNull(dst, resp3)
	}
	return resp.AppendBulk(dst, value)
}

// hMGet serves HMGET.
func hMGet(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	h, asked, start := hashIn(st), req.Args[2:], len(dst)
	dst = resp.AppendArray(dst, len(asked))
	if h.parts != nil || len(asked) <= searched {
		for _, field := range asked {
			if dst = appendField(dst, h, field, req.RESP3); len(dst)-start > maxReply {
				return refuse(dst[:start], errMuchReply)
			}
		}
		return dst, noEffect
	}
	values := make(map[string][]byte, h.count())
	for field, value := range h.all() {
		values[string(field)] = value
	}
	for _, field := range asked {
		if value, found := values[string(field)]; found {
			dst = resp.AppendBulk(dst, value)
		} else {
			dst = resp.AppendNull(dst, req.RESP3)
		}
	}
	return dst, noEffect
}

// hExists serves HEXISTS.
func hExists(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	_, found := hashIn(st).get(req.Args[2])
	return appendBool(dst, found), noEffect
}

// hLen serves HLEN.
func hLen(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	return resp.AppendInt(dst, int64(hashIn(st).count())), noEffect
}

// hStrlen serves HSTRLEN.
func hStrlen(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	value, _ := hashIn(st).get(req.Args[2])
	return resp.AppendInt(dst, int64(len(value))), noEffect
}

// hGetAll serves HGETALL: a map in RESP3.
func hGetAll(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	h := hashIn(st)
	return appendAll(resp.AppendMap(dst, h.count(), req.RESP3), len(dst), h, true, true)
}

// hKeys serves HKEYS.
func hKeys(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	h := hashIn(st)
	return appendAll(resp.AppendArray(dst, h.count()), len(dst), h, true, false)
}

// hVals serves HVALS.
func hVals(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	h := hashIn(st)
	return appendAll(resp.AppendArray(dst, h.count()), len(dst), h, false, true)
}

// appendAll appends the fields of a hash, their values, or both to a reply that begins at start in dst, or makes an error of it if it becomes too long.
func appendAll(dst []byte, start int, h hash, fields, values bool) ([]byte, record.Effect) {
	if fields && values {
		dst = roomFor(dst, 2*h.count(), 2*h.count(), h.size())
	}
	for field, value := range h.all() {
		if fields {
			dst = resp.AppendBulk(dst, field)
		}
		if values {
			dst = resp.AppendBulk(dst, value)
		}
		if len(dst)-start > maxReply {
			return refuse(dst[:start], errMuchReply)
		}
	}
	return dst, noEffect
}
