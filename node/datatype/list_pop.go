package datatype

import (
	"bytes"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// lPop serves LPOP, rPop RPOP.
func lPop(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return pop(dst, st, req, true)
}

func rPop(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return pop(dst, st, req, false)
}

func pop(dst []byte, st record.State, req *command.Request, left bool) ([]byte, record.Effect) {
	counted, most := len(req.Args) == 3, int64(1)
	if counted {
		var ok bool
		if most, ok = parseInt(req.Args[2]); !ok || most < 0 {
			return refuse(dst, errNotPositive)
		}
	}
	switch {
	case !st.Live() && counted:
		return resp.AppendNullArray(dst, req.RESP3), noEffect
	case !st.Live():
		return resp.AppendNull(dst, req.RESP3), noEffect
	case st.Type != record.List:
		return refuse(dst, errWrongType)
	}
	start := len(dst)
	if counted {
		return popSome(dst, start, st, req, left, most)
	}
	l := listIn(st)
	from := end(l, left, 1)
	change := [1]cut{{from: from, to: from + 1}}
	return cuts(change[:]).run(resp.AppendBulk(dst, l.at(from)), start, st, req)
}

// end returns the rank of the first of n elements at an end of a list.
func end(l list, left bool, n int) (from int) {
	if left {
		return 0
	}
	return l.count() - n
}

// popSome takes elements, no more than most, from an end of a list. A reply that begins at start has them as an array, in the order in which they are taken.
func popSome(dst []byte, start int, st record.State, req *command.Request, left bool, most int64) ([]byte, record.Effect) {
	l := listIn(st)
	n := int(min(most, int64(l.count())))
	if n == 0 {
		return resp.AppendArray(dst, 0), noEffect
	}
	elements := l.from(0)
	if !left {
		elements = l.back()
	}
	dst = resp.AppendArray(dst, n)
	missing := n
	for element := range elements {
		if dst = resp.AppendBulk(dst, element); len(dst)-start > maxReply {
			return refuse(dst[:start], errMuchReply)
		}
		if missing--; missing == 0 {
			break
		}
	}
	from := end(l, left, n)
	change := [1]cut{{from: from, to: from + n}}
	return cuts(change[:]).run(dst, start, st, req)
}

// isEnd reports whether an argument names an end of a list, and whether that is the left one.
func isEnd(arg []byte) (left, ok bool) {
	left = isWord(arg, "left")
	return left, left || isWord(arg, "right")
}

// lMPop serves LMPOP 1 key LEFT|RIGHT [COUNT count], which comes with the key first. The proxy has looked at the rest of it.
func lMPop(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	left, ok := isEnd(req.Args[2])
	most := int64(1)
	if ok && len(req.Args) == 4 {
		most, ok = parseInt(req.Args[3])
	}
	switch {
	case !ok || most < 1:
		return refuse(dst, errSyntax)
	case !st.Live():
		return resp.AppendNullArray(dst, req.RESP3), noEffect
	case st.Type != record.List:
		return refuse(dst, errWrongType)
	}
	start := len(dst)
	return popSome(appendName(resp.AppendArray(dst, 2), req.Args[1]), start, st, req, left, most)
}

// lMove serves LMOVE with one list, which is turned then.
func lMove(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	from, ok := isEnd(req.Args[3])
	to, is := isEnd(req.Args[4])
	if !ok || !is {
		return refuse(dst, errSyntax)
	}
	return turn(dst, st, req, from, to)
}

// rPopLPush serves RPOPLPUSH with one list.
func rPopLPush(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return turn(dst, st, req, false, true)
}

func turn(dst []byte, st record.State, req *command.Request, from, to bool) ([]byte, record.Effect) {
	switch {
	case !st.Live():
		return resp.AppendNull(dst, req.RESP3), noEffect
	case st.Type != record.List:
		return refuse(dst, errWrongType)
	case !bytes.Equal(req.Args[1], req.Args[2]):
		return refuse(dst, errSyntax)
	}
	l, start := listIn(st), len(dst)
	n := l.count()
	rank := end(l, from, 1)
	element := l.at(rank)
	if l.parts != nil { // which is changed in place
		element = buffer.Clone(element)
	}
	dst = resp.AppendBulk(dst, element)
	switch with := [1][]byte{element}; {
	case from == to || n == 1:
		return dst, noEffect
	case from:
		change := [2]cut{{from: 0, to: 1}, {from: n, to: n, with: with[:]}}
		return cuts(change[:]).run(dst, start, st, req)
	default:
		change := [2]cut{{from: 0, to: 0, with: with[:]}, {from: n - 1, to: n}}
		return cuts(change[:]).run(dst, start, st, req)
	}
}
