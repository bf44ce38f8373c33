package datatype

import (
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// lPush serves LPUSH, rPush RPUSH, and the others what they do to lists that are there.
func lPush(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return push(dst, st, req, true)
}

func rPush(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return push(dst, st, req, false)
}

func lPushX(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendInt(dst, 0), noEffect
	}
	return lPush(dst, st, req, now)
}

func rPushX(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendInt(dst, 0), noEffect
	}
	return rPush(dst, st, req, now)
}

func push(dst []byte, st record.State, req *command.Request, left bool) ([]byte, record.Effect) {
	if holdsOther(st, record.List) {
		return refuse(dst, errWrongType)
	}
	n, with, at := listIn(st).count(), req.Args[2:], 0
	if !left {
		at = n
	} else if len(with) > 1 { // one is put before the other
		with = slices.Clone(with)
		slices.Reverse(with)
	}
	change := [1]cut{{at, at, with}}
	return cuts(change[:]).run(resp.AppendInt(dst, int64(n+len(with))), len(dst), st, req)
}

// lSet serves LSET. Redis looks at the key first.
func lSet(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	switch {
	case !st.Live():
		return refuse(dst, errNoKey)
	case st.Type != record.List:
		return refuse(dst, errWrongType)
	}
	index, ok := parseInt(req.Args[2])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	l, element := listIn(st), req.Args[3]
	rank, found := rankOf(index, l.count())
	if !found {
		return refuse(dst, errIndex)
	}
	start := len(dst)
	dst = append(dst, resp.OK...)
	if l.parts == nil {
		if end := l.skip(l.head(), 0, rank+1); len(l.at(rank)) == len(element) {
			if eff, ok := patched(req, st, end-len(element), element); ok {
				return dst, eff
			}
		}
	}
	change := [1]cut{{rank, rank + 1, req.Args[3:4]}}
	return cuts(change[:]).run(dst, start, st, req)
}

// lInsert serves LINSERT.
func lInsert(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	behindPivot := 0
	switch {
	case isWord(req.Args[2], "after"):
		behindPivot = 1
	case !isWord(req.Args[2], "before"):
		return refuse(dst, errSyntax)
	}
	switch {
	case !st.Live():
		return resp.AppendInt(dst, 0), noEffect
	case st.Type != record.List:
		return refuse(dst, errWrongType)
	}
	l, rank := listIn(st), 0
	for element := range l.from(0) {
		if string(element) == string(req.Args[3]) {
			at := rank + behindPivot
			change := [1]cut{{at, at, req.Args[4:5]}}
			return cuts(change[:]).run(resp.AppendInt(dst, int64(l.count()+1)), len(dst), st, req)
		}
		rank++
	}
	return resp.AppendInt(dst, -1), noEffect
}

// lRem serves LREM.
func lRem(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	n, ok := parseInt(req.Args[2])
	switch {
	case !ok:
		return refuse(dst, errNotInteger)
	case !st.Live():
		return resp.AppendInt(dst, 0), noEffect
	case st.Type != record.List:
		return refuse(dst, errWrongType)
	}
	p := pos{rank: 1, count: n}
	if n < 0 {
		p = pos{rank: -1, count: max(-n, 0)} // of the lowest number there is no other one: Redis removes all then
	}
	ranks := p.find(listIn(st), req.Args[3])
	if n < 0 {
		slices.Reverse(ranks)
	}
	if len(ranks) == 0 {
		return resp.AppendInt(dst, 0), noEffect
	}
	var c cuts
	for _, rank := range ranks {
		if last := len(c) - 1; last >= 0 && c[last].to == rank {
			c[last].to++
			continue
		}
		c = append(c, cut{from: rank, to: rank + 1})
	}
	return c.run(resp.AppendInt(dst, int64(len(ranks))), len(dst), st, req)
}

// lTrim serves LTRIM.
func lTrim(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	first, last, ok := parseInts(req.Args[2], req.Args[3])
	switch {
	case !ok:
		return refuse(dst, errNotInteger)
	case holdsOther(st, record.List):
		return refuse(dst, errWrongType)
	}
	start, n := len(dst), listIn(st).count()
	dst = append(dst, resp.OK...)
	from, to := ranksOf(first, last, n)
	var room [2]cut
	c := cuts(room[:0])
	if from > 0 || to == 0 {
		c = append(c, cut{from: 0, to: from})
	}
	if to < n {
		c = append(c, cut{from: to, to: n})
	}
	if to-from == n {
		return dst, noEffect
	}
	return c.run(dst, start, st, req)
}
