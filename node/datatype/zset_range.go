package datatype

import (
	"iter"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// rangeKind says what the ends of a range are.
type rangeKind uint8

const (
	byAny rangeKind = iota // what options say
	byRank
	byScore
	byLex
)

// rangeOptions are what ZRANGE and the commands that it replaces are told. Those have set what is in their names.
type rangeOptions struct {
	kind          rangeKind
	rev, mayRev   bool
	stores        bool // what is found has its scores then
	withScores    bool
	offset, limit int64 // the limit is none if it is negative
	first, last   int64 // of ranks
	bounds        bounds
}

// zRange serves ZRANGE.
func zRange(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return (&rangeOptions{mayRev: true}).run(dst, st, req)
}

// zRevRange serves ZREVRANGE.
func zRevRange(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return (&rangeOptions{kind: byRank, rev: true}).run(dst, st, req)
}

// zRangeByScore serves ZRANGEBYSCORE.
func zRangeByScore(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return (&rangeOptions{kind: byScore}).run(dst, st, req)
}

// zRevRangeByScore serves ZREVRANGEBYSCORE.
func zRevRangeByScore(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return (&rangeOptions{kind: byScore, rev: true}).run(dst, st, req)
}

// zRangeByLex serves ZRANGEBYLEX.
func zRangeByLex(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return (&rangeOptions{kind: byLex}).run(dst, st, req)
}

// zRevRangeByLex serves ZREVRANGEBYLEX.
func zRevRangeByLex(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return (&rangeOptions{kind: byLex, rev: true}).run(dst, st, req)
}

func (o *rangeOptions) run(dst []byte, st record.State, req *command.Request) ([]byte, record.Effect) {
	if problem := o.parse(req.Args[4:]); problem != "" {
		return refuse(dst, problem)
	}
	if problem := o.parseEnds(req.Args[2], req.Args[3]); problem != "" {
		return refuse(dst, problem)
	}
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	z := zsetIn(st)
	from, to := o.ranks(z)
	reply, ok := memberReply{resp3: req.RESP3, scores: o.withScores, pairs: req.RESP3}.all(dst, z.span(from, to, o.rev), to-from)
	if !ok {
		return refuse(dst, errMuchReply)
	}
	return reply, noEffect
}

// parse reads the options, and returns an error text, which is empty if all is well.
func (o *rangeOptions) parse(args [][]byte) (problem string) {
	o.limit = -1
	for ; len(args) > 0; args = args[1:] {
		switch arg := args[0]; {
		case !o.stores && isWord(arg, "withscores"):
			o.withScores = true
		case isWord(arg, "limit") && len(args) > 2:
			var ok bool
			if o.offset, o.limit, ok = parseInts(args[1], args[2]); !ok {
				return errNotInteger
			}
			args = args[2:]
		case o.mayRev && !o.rev && isWord(arg, "rev"):
			o.rev = true
		case o.kind == byAny && isWord(arg, "bylex"):
			o.kind = byLex
		case o.kind == byAny && isWord(arg, "byscore"):
			o.kind = byScore
		default:
			return errSyntax
		}
	}
	if o.kind == byAny {
		o.kind = byRank
	}
	switch {
	case o.limit != -1 && o.kind == byRank:
		return errRankLimit
	case o.withScores && o.kind == byLex:
		return errLexScores
	}
	return ""
}

// parseEnds reads the ends of the range, the last one first if it is one of scores or members in reverse.
func (o *rangeOptions) parseEnds(low, high []byte) (problem string) {
	if o.rev && o.kind != byRank {
		low, high = high, low
	}
	switch o.kind {
	case byScore:
		r, ok := parseScoreRange(low, high)
		if !ok {
			return errBoundNotFloat
		}
		o.bounds = r
	case byLex:
		r, ok := parseLexRange(low, high)
		if !ok {
			return errBoundNotLex
		}
		o.bounds = r
	default:
		var ok bool
		if o.first, o.last, ok = parseInts(low, high); !ok {
			return errNotInteger
		}
	}
	return ""
}

// ranks returns the first rank of what is asked for, and the one behind the last.
func (o *rangeOptions) ranks(z zset) (from, to int) {
	if o.kind == byRank {
		from, to = ranksOf(o.first, o.last, z.count())
		if o.rev {
			from, to = z.count()-to, z.count()-from
		}
		return from, to
	}
	from, to = z.ranks(o.bounds, o.rev, o.offset)
	if n := int64(to - from); o.limit < 0 || o.limit >= n {
		return from, to
	}
	if o.rev {
		return to - int(o.limit), to
	}
	return from, from + int(o.limit)
}

// span goes through the members of ranks from one on, up to another one, in reverse if that is asked for.
func (z zset) span(from, to int, reverse bool) iter.Seq[scored] {
	all, first := z.from, from
	if reverse {
		all, first = z.down, to
	}
	return func(yield func(scored) bool) {
		n := to - from
		for s := range all(first) {
			if n == 0 || !yield(s) {
				return
			}
			n--
		}
	}
}

// memberReply is how members are replied: with their scores or without, as pairs of them or not.
type memberReply struct{ resp3, scores, pairs bool }

// header appends the beginning of a reply of n members.
func (r memberReply) header(dst []byte, n int) []byte {
	if r.scores && !r.pairs {
		n *= 2
	}
	return resp.AppendArray(dst, n)
}

func (r memberReply) append(dst []byte, s scored) []byte {
	if !r.scores {
		return resp.AppendBulk(dst, s.member)
	}
	if r.pairs {
		dst = resp.AppendArray(dst, 2)
	}
	return resp.AppendDouble(resp.AppendBulk(dst, s.member), s.score, r.resp3)
}

// all appends n members, and reports false if that is too long for a reply.
func (r memberReply) all(dst []byte, members iter.Seq[scored], n int) (reply []byte, ok bool) {
	start := len(dst)
	dst = r.header(dst, n)
	for s := range members {
		if dst = r.append(dst, s); len(dst)-start > maxReply {
			return dst[:start], false
		}
	}
	return dst, true
}

// zCount serves ZCOUNT.
func zCount(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return countRange(dst, st, req, byScore)
}

// zLexCount serves ZLEXCOUNT.
func zLexCount(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return countRange(dst, st, req, byLex)
}

func countRange(dst []byte, st record.State, req *command.Request, kind rangeKind) ([]byte, record.Effect) {
	o := rangeOptions{kind: kind}
	if problem := o.parseEnds(req.Args[2], req.Args[3]); problem != "" {
		return refuse(dst, problem)
	}
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	from, to := zsetIn(st).ranks(o.bounds, false, 0)
	return resp.AppendInt(dst, int64(to-from)), noEffect
}
