package datatype

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// addOptions are the options of ZADD.
type addOptions struct{ nx, xx, gt, lt, ch, incr bool }

// parse reads one option, and reports false if it is none.
func (o *addOptions) parse(arg []byte) bool {
	switch {
	case isWord(arg, "nx"):
		o.nx = true
	case isWord(arg, "xx"):
		o.xx = true
	case isWord(arg, "gt"):
		o.gt = true
	case isWord(arg, "lt"):
		o.lt = true
	case isWord(arg, "ch"):
		o.ch = true
	case isWord(arg, "incr"):
		o.incr = true
	default:
		return false
	}
	return true
}

// zAdd serves ZADD.
func zAdd(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	var o addOptions
	pairs := req.Args[2:]
	for len(pairs) > 0 && o.parse(pairs[0]) {
		pairs = pairs[1:]
	}
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		return refuse(dst, errSyntax)
	case o.nx && o.xx:
		return refuse(dst, errXXWithNX)
	case o.nx && (o.gt || o.lt) || o.gt && o.lt:
		return refuse(dst, errGTLTNX)
	case o.incr && len(pairs) > 2:
		return refuse(dst, errIncrPairs)
	}
	return o.run(dst, st, req, pairs)
}

// zIncrBy serves ZINCRBY.
func zIncrBy(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	o := addOptions{incr: true}
	return o.run(dst, st, req, req.Args[2:])
}

// run executes ZADD with pairs of scores and members.
func (o *addOptions) run(dst []byte, st record.State, req *command.Request, pairs [][]byte) ([]byte, record.Effect) {
	var room [usual]scored
	members := room[:0]
	for i := 0; i < len(pairs); i += 2 {
		score, ok := parseScore(pairs[i])
		if !ok {
			return refuse(dst, errNotFloat)
		}
		members = append(members, scored{score, pairs[i+1]})
	}
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	return o.add(dst, st, req, members)
}

// add is run with the scores parsed.
func (o *addOptions) add(dst []byte, st record.State, req *command.Request, members []scored) ([]byte, record.Effect) {
	var room [usual]scoreChange
	z, e := zsetIn(st), scoreEdit{list: room[:0]}
	var added, updated int
	start, reply := len(dst), resp.AppendNull(nil, req.RESP3)
	for _, m := range members {
		c := e.of(z, m.member)
		there, old := c.there(), c.score
		score, does := o.score(m.score, old, there)
		switch {
		case math.IsNaN(score):
			return refuse(dst, errScoreNaN)
		case !does:
			continue
		case !there:
			added++
			c.score, c.remove = score, false
		case score != old: // minus zero is not another score than zero
			updated++
			c.score = score
		}
		if o.incr {
			reply = resp.AppendDouble(nil, score, req.RESP3)
		}
	}
	switch {
	case o.incr:
		dst = append(dst, reply...)
	case o.ch:
		dst = resp.AppendInt(dst, int64(added+updated))
	default:
		dst = resp.AppendInt(dst, int64(added))
	}
	return e.run(dst, start, st, req)
}

// score returns the score that a member is to have, of the one that is given, and that which it has if it is there. does is false if it is left alone.
func (o *addOptions) score(given, old float64, there bool) (score float64, does bool) {
	if !there {
		return given, !o.xx
	}
	if o.nx {
		return 0, false
	}
	score = given
	if o.incr {
		score += old
	}
	return score, !(o.lt && score >= old || o.gt && score <= old)
}

// run returns a reply, which begins at start in dst, and the effect of the edit of what a key has; or an error.
func (e *scoreEdit) run(dst []byte, start int, st record.State, req *command.Request) ([]byte, record.Effect) {
	z, changes := zsetIn(st), e.changes()
	if len(changes) == 0 {
		return dst, noEffect
	}
	if eff, ok := z.patched(req, st, changes); ok {
		return dst, eff
	}
	room := len(z.packed)
	for i := range changes {
		if !changes[i].remove {
			room += 1 + changes[i].size() // the number of members may take more bytes than before
		}
	}
	deltaSize := scoresDeltaSize(changes)
	dst, s := behind(dst, min(room, record.CopiedValue)+min(deltaSize, record.CopiedValue))
	eff, fits := zsetEffect(st, z.withScores(changes, &s), longestCollection(req), deltaSize)
	if !fits {
		return refuse(dst[:start], errTooLong(record.SortedSet))
	}
	if eff.Kind == record.Changed {
		eff.Delta = scoresDelta(s.take(deltaSize), changes)
	}
	return dst, eff
}

// patched returns the effect of another score for a member that keeps its place, if that takes as many bytes.
func (z zset) patched(req *command.Request, st record.State, changes []scoreChange) (eff record.Effect, ok bool) {
	c := &changes[0]
	if z.board != nil || len(changes) > 1 || c.remove || !c.was.found || c.size() != c.was.end-c.was.start {
		return noEffect, false
	}
	if rank := z.first(0, func(s scored) bool { return s.compare(c.scored) >= 0 }); rank != c.was.rank && rank != c.was.rank+1 {
		return noEffect, false
	}
	var room [1 + longScore]byte
	code := appendCode(room[:0], c.score)
	return patched(req, st, c.was.end-len(c.member)-len(code), code)
}

// zsetEffect is the effect of a change after which a key has the sorted set next. Of one that is Changed the delta, of so many bytes, is not there yet. fits is
// false if the sorted set is longer than longest.
func zsetEffect(old record.State, next zset, longest, deltaSize int) (eff record.Effect, fits bool) {
	size := next.size()
	switch {
	case next.count() == 0 && !old.Live():
		return noEffect, true
	case next.count() == 0:
		return deleted(), true
	case size > longest:
		return noEffect, false
	}
	eff = record.Effect{Kind: record.Replaced, State: next.state(old.ExpireAt)}
	if old.Live() && size > minSpliceValue && deltaSize < size/minSpliceGain {
		eff.Kind = record.Changed
	}
	return eff, true
}
