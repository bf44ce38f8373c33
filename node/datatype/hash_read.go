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
	return appendField(dst, st.Value, req.Args[2], req.RESP3), noEffect
}

// appendField appends the value of a field, or null.
func appendField(dst, hash, field []byte, resp3 bool) []byte {
	value, found := fieldOf(hash, field)
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
	asked := req.Args[2:]
	dst = resp.AppendArray(dst, len(asked))
	if len(asked) <= searched {
		for _, field := range asked {
			dst = appendField(dst, st.Value, field, req.RESP3)
		}
		return dst, noEffect
	}
	values := make(map[string][]byte, fieldCount(st.Value))
	for f := fieldsOf(st.Value); f.next(); {
		values[string(f.field)] = f.value
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
	_, found := fieldOf(st.Value, req.Args[2])
	return appendBool(dst, found), noEffect
}

// hLen serves HLEN.
func hLen(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	return resp.AppendInt(dst, int64(fieldCount(st.Value))), noEffect
}

// hStrlen serves HSTRLEN.
func hStrlen(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	value, _ := fieldOf(st.Value, req.Args[2])
	return resp.AppendInt(dst, int64(len(value))), noEffect
}

// hGetAll serves HGETALL: a map in RESP3.
func hGetAll(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	dst = resp.AppendMap(dst, fieldCount(st.Value), req.RESP3)
	for f := fieldsOf(st.Value); f.next(); {
		dst = resp.AppendBulk(resp.AppendBulk(dst, f.field), f.value)
	}
	return dst, noEffect
}

// hKeys serves HKEYS.
func hKeys(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	dst = resp.AppendArray(dst, fieldCount(st.Value))
	for f := fieldsOf(st.Value); f.next(); {
		dst = resp.AppendBulk(dst, f.field)
	}
	return dst, noEffect
}

// hVals serves HVALS.
func hVals(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	dst = resp.AppendArray(dst, fieldCount(st.Value))
	for f := fieldsOf(st.Value); f.next(); {
		dst = resp.AppendBulk(dst, f.value)
	}
	return dst, noEffect
}
