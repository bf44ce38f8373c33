package datatype

import (
	"bytes"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// moveMember serves SMOVE.
func moveMember(k *Keyspace, dst []byte, req *command.Request) []byte {
	from, to, member := req.Args[1], req.Args[2], req.Args[3]
	if bytes.Equal(from, to) {
		return k.on(dst, req)
	}
	st, there := k.get(from), k.get(to)
	switch {
	case !st.Live():
		return appendBool(dst, false)
	case st.Type != record.Set || holdsOther(there, record.Set):
		return resp.AppendError(dst, errWrongType)
	case !membersIn(st).has(member):
		return appendBool(dst, false)
	}
	problem := k.do(req, command.OpSRem, req.Args[0], from, member)
	if problem == nil {
		problem = k.do(req, command.OpSAdd, req.Args[0], to, member)
	}
	if problem != nil {
		return append(dst, problem...)
	}
	return appendBool(dst, true)
}

// lMoveBetween serves LMOVE.
func lMoveBetween(k *Keyspace, dst []byte, req *command.Request) []byte {
	left, ok := isEnd(req.Args[3])
	toLeft, is := isEnd(req.Args[4])
	if !ok || !is {
		return resp.AppendError(dst, errSyntax)
	}
	return moveElement(k, dst, req, left, toLeft)
}

// rPopLPushBetween serves RPOPLPUSH.
func rPopLPushBetween(k *Keyspace, dst []byte, req *command.Request) []byte {
	return moveElement(k, dst, req, false, true)
}

// moveElement pops an element of one list, and pushes it to another one.
func moveElement(k *Keyspace, dst []byte, req *command.Request, left, toLeft bool) []byte {
	from, to := req.Args[1], req.Args[2]
	if bytes.Equal(from, to) {
		return k.on(dst, req)
	}
	st, there := k.get(from), k.get(to)
	switch {
	case !st.Live():
		return resp.AppendNull(dst, req.RESP3)
	case st.Type != record.List || holdsOther(there, record.List):
		return resp.AppendError(dst, errWrongType)
	}
	l := listIn(st)
	element := buffer.Clone(l.at(end(l, left, 1)))
	pop, push := command.OpRPop, command.OpRPush
	if left {
		pop = command.OpLPop
	}
	if toLeft {
		push = command.OpLPush
	}
	told := k.told.Len()
	problem := k.do(req, pop, req.Args[0], from)
	popped := k.told.Len()
	if problem == nil {
		problem = k.do(req, push, req.Args[0], to, element)
	}
	k.told.Swap(told, popped) // Redis tells of the push first
	if problem != nil {
		return append(dst, problem...)
	}
	return resp.AppendBulk(dst, element)
}

// popFirst serves LMPOP and ZMPOP, numkeys key [key ...] end [COUNT count], which pop of the first key that is there. It is done in the form of one key: key, end, and the
// count if there is one.
func popFirst(k *Keyspace, dst []byte, req *command.Request) []byte {
	keys, rest, problem := parsePop(req)
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	for _, key := range keys {
		if k.get(key).Live() {
			req.Args = append([][]byte{req.Args[0], key}, rest...)
			return k.on(dst, req)
		}
	}
	return resp.AppendNullArray(dst, req.RESP3)
}

// appendName appends a key as its client has named it.
func appendName(dst, name []byte) []byte {
	_, key := database.Split(name)
	return resp.AppendBulk(dst, key)
}

// parsePop returns the keys of LMPOP or ZMPOP, and what is behind them: the end, and the count if there is one.
func parsePop(req *command.Request) (keys, rest [][]byte, problem string) {
	args := req.Args
	n, ok := parseInt(args[1])
	switch {
	case !ok || n < 1:
		return nil, nil, errNumKeys
	case n > int64(len(args)-3): // nothing is behind the keys
		return nil, nil, errSyntax
	}
	keys, rest = args[2:2+n], args[2+n:]
	_, list := isEnd(rest[0])
	if req.Op == command.OpZMPop {
		list = isWord(rest[0], "min") || isWord(rest[0], "max")
	}
	switch {
	case !list:
		return nil, nil, errSyntax
	case len(rest) == 1:
		return keys, rest, ""
	case len(rest) == 2 || !isWord(rest[1], "count"):
		return nil, nil, errSyntax
	}
	if most, ok := parseInt(rest[2]); !ok || most < 1 {
		return nil, nil, errPopCount
	}
	if len(rest) > 3 {
		return nil, nil, errSyntax
	}
	return keys, [][]byte{rest[0], rest[2]}, ""
}
