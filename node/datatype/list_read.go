package datatype

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// lLen serves LLEN.
func lLen(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.List) {
		return refuse(dst, errWrongType)
	}
	return resp.AppendInt(dst, int64(listIn(st).count())), noEffect
}

// lIndex serves LINDEX. Redis looks at the key first.
func lIndex(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	switch {
	case !st.Live():
		return resp.AppendNull(dst, req.RESP3), noEffect
	case st.Type != record.List:
		return refuse(dst, errWrongType)
	}
	index, ok := parseInt(req.Args[2])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	l := listIn(st)
	rank, found := rankOf(index, l.count())
	if !found {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	return resp.AppendBulk(dst, l.at(rank)), noEffect
}

// rankOf returns the rank of an index, which counts from the end if it is negative, and whether n elements have one.
func rankOf(index int64, n int) (rank int, ok bool) {
	if index < 0 {
		index += int64(n)
	}
	return int(index), index >= 0 && index < int64(n)
}

// ranksOf returns the ranks [from, to) of a range of indices of n elements: both are part of it, and negative ones count from the end.
func ranksOf(first, last int64, n int) (from, to int) {
	if first < 0 {
		first = max(first+int64(n), 0)
	}
	if last < 0 {
		last += int64(n)
	}
	if first > last || first >= int64(n) {
		return 0, 0
	}
	return int(first), int(min(last, int64(n)-1)) + 1
}

// lRange serves LRANGE.
func lRange(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	first, last, ok := parseInts(req.Args[2], req.Args[3])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	if holdsOther(st, record.List) {
		return refuse(dst, errWrongType)
	}
	l := listIn(st)
	from, to := ranksOf(first, last, l.count())
	return appendElements(dst, l, from, to)
}

// appendElements appends the elements of the ranks [from, to) as an array, or an error if that is too long.
func appendElements(dst []byte, l list, from, to int) ([]byte, record.Effect) {
	start := len(dst)
	dst = resp.AppendArray(dst, to-from)
	if from == to {
		return dst, noEffect
	}
	left := to - from
	dst = roomFor(dst, left, l.count(), l.size())
	for element := range l.from(from) {
		if dst = resp.AppendBulk(dst, element); len(dst)-start > maxReply {
			return refuse(dst[:start], errMuchReply)
		}
		if left--; left == 0 {
			break
		}
	}
	return dst, noEffect
}

// lPos serves LPOS.
func lPos(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	p, fault := parsePos(req.Args[3:])
	if fault != "" {
		return refuse(dst, fault)
	}
	if holdsOther(st, record.List) {
		return refuse(dst, errWrongType)
	}
	found := p.find(listIn(st), req.Args[2])
	switch {
	case p.counted:
		dst = resp.AppendArray(dst, len(found))
		for _, rank := range found {
			dst = resp.AppendInt(dst, int64(rank))
		}
		return dst, noEffect
	case len(found) == 0:
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	return resp.AppendInt(dst, int64(found[0])), noEffect
}

// pos are the options of LPOS.
type pos struct {
	rank    int64 // of the first match, from 1 on; from the end if it is negative
	count   int64 // of matches, 0 for all
	counted bool  // there is a count, so the reply is an array
	length  int64 // of elements to look at, 0 for all
}

func parsePos(args [][]byte) (p pos, fault string) {
	p = pos{rank: 1, count: 1}
	for ; len(args) >= 2; args = args[2:] {
		n, ok := parseInt(args[1])
		switch {
		case isWord(args[0], "rank"):
			switch {
			case !ok:
				return p, errNotInteger
			case n == math.MinInt64:
				return p, errLongRange
			case n == 0:
				return p, errRank
			}
			p.rank = n
		case isWord(args[0], "count"):
			if !ok || n < 0 {
				return p, errNegativeCount
			}
			p.count, p.counted = n, true
		case isWord(args[0], "maxlen"):
			if !ok || n < 0 {
				return p, errNegativeMaxLen
			}
			p.length = n
		default:
			return p, errSyntax
		}
	}
	if len(args) > 0 {
		return p, errSyntax
	}
	return p, ""
}

// find returns the ranks of the elements that are asked for, in the order in which they are found.
func (p *pos) find(l list, element []byte) (ranks []int) {
	elements, skip, at, step := l.from(0), p.rank-1, 0, 1
	if p.rank < 0 {
		elements, skip, at, step = l.back(), -p.rank-1, l.count()-1, -1
	}
	looked := int64(0)
	for e := range elements {
		if string(e) == string(element) {
			if skip == 0 {
				ranks = append(ranks, at)
			} else {
				skip--
			}
		}
		looked++
		at += step
		if p.count > 0 && int64(len(ranks)) == p.count || looked == p.length {
			break
		}
	}
	return ranks
}
