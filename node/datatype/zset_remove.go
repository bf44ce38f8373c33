package datatype

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// zRem serves ZREM: how many of the members were there.
func zRem(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	var room [usual]scoreChange
	z, e := zsetIn(st), scoreEdit{list: room[:0]}
	for _, member := range req.Args[2:] {
		e.of(z, member).remove = true
	}
	return e.run(resp.AppendInt(dst, int64(e.removed())), len(dst), st, req)
}

// removed returns how many members that are there the edit removes.
func (e *scoreEdit) removed() (n int) {
	for i := range e.list {
		if e.list[i].remove && e.list[i].was.found {
			n++
		}
	}
	return n
}

// remove returns a reply and the effect of the removal of ranks from one on, up to another one, all of which a key's sorted set has.
func (z zset) remove(dst []byte, st record.State, from, to int) ([]byte, record.Effect) {
	const deltaSize = 16
	if from == to {
		return dst, noEffect
	}
	dst, s := behind(dst, min(len(z.packed), record.CopiedValue)+deltaSize)
	eff, _ := zsetEffect(st, z.withoutRanks(from, to, &s), math.MaxInt, deltaSize)
	if eff.Kind == record.Changed {
		eff.Delta = ranksDelta(s.take(deltaSize), from, to)
	}
	return dst, eff
}

// zRemRangeByRank serves ZREMRANGEBYRANK.
func zRemRangeByRank(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return removeRange(dst, st, req, byRank)
}

// zRemRangeByScore serves ZREMRANGEBYSCORE.
func zRemRangeByScore(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return removeRange(dst, st, req, byScore)
}

// zRemRangeByLex serves ZREMRANGEBYLEX.
func zRemRangeByLex(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return removeRange(dst, st, req, byLex)
}

func removeRange(dst []byte, st record.State, req *command.Request, kind rangeKind) ([]byte, record.Effect) {
	o := rangeOptions{kind: kind, limit: -1}
	if problem := o.parseEnds(req.Args[2], req.Args[3]); problem != "" {
		return refuse(dst, problem)
	}
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	z := zsetIn(st)
	from, to := o.ranks(z)
	return z.remove(resp.AppendInt(dst, int64(to-from)), st, from, to)
}

// zPopMin serves ZPOPMIN.
func zPopMin(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return popScored(dst, st, req, false)
}

// zPopMax serves ZPOPMAX.
func zPopMax(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return popScored(dst, st, req, true)
}

// popScored serves ZPOPMIN and ZPOPMAX. In RESP3 members are pairs if a number was asked for.
func popScored(dst []byte, st record.State, req *command.Request, reverse bool) ([]byte, record.Effect) {
	count, counted := int64(1), len(req.Args) > 2
	if len(req.Args) > 3 {
		return refuse(dst, errSyntax)
	}
	if counted {
		n, ok := parseInt(req.Args[2])
		if !ok || n < 0 {
			return refuse(dst, errNotPositive)
		}
		count = n
	}
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	z := zsetIn(st)
	n := int(min(count, int64(z.count())))
	if n == 0 {
		return resp.AppendArray(dst, 0), noEffect
	}
	return z.pop(dst, len(dst), st, n, reverse, memberReply{resp3: req.RESP3, scores: true, pairs: req.RESP3 && counted})
}

// zMPop serves ZMPOP 1 key MIN|MAX [COUNT count], which comes with the key first. The proxy has looked at the rest of it.
func zMPop(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	reverse, most := isWord(req.Args[2], "max"), int64(1)
	ok := reverse || isWord(req.Args[2], "min")
	if ok && len(req.Args) == 4 {
		most, ok = parseInt(req.Args[3])
	}
	switch {
	case !ok || most < 1:
		return refuse(dst, errSyntax)
	case holdsOther(st, record.SortedSet):
		return refuse(dst, errWrongType)
	case !st.Live():
		return resp.AppendNullArray(dst, req.RESP3), noEffect
	}
	z, start := zsetIn(st), len(dst)
	n := int(min(most, int64(z.count())))
	dst = appendName(resp.AppendArray(dst, 2), req.Args[1])
	return z.pop(dst, start, st, n, reverse, memberReply{resp3: req.RESP3, scores: true, pairs: true})
}

// pop replies the first or the last members of a key, and removes them. A reply that begins at start has them at its end.
func (z zset) pop(dst []byte, start int, st record.State, n int, reverse bool, r memberReply) ([]byte, record.Effect) {
	from := 0
	if reverse {
		from = z.count() - n
	}
	reply, ok := r.all(dst, z.span(from, from+n, reverse), n)
	if !ok {
		return refuse(dst[:start], errMuchReply)
	}
	return z.remove(reply, st, from, from+n)
}
