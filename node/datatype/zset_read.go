package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// zCard serves ZCARD.
func zCard(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	return resp.AppendInt(dst, int64(zsetIn(st).count())), noEffect
}

// zScore serves ZSCORE.
func zScore(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	return zsetIn(st).appendScoreOf(dst, req.Args[2], req.RESP3), noEffect
}

// zMScore serves ZMSCORE.
func zMScore(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	z, asked := zsetIn(st), req.Args[2:]
	dst = resp.AppendArray(dst, len(asked))
	for _, member := range asked {
		dst = z.appendScoreOf(dst, member, req.RESP3)
	}
	return dst, noEffect
}

// appendScoreOf appends the score of a member, or null.
func (z zset) appendScoreOf(dst []byte, member []byte, resp3 bool) []byte {
	at := z.locate(member)
	if !at.found {
		return resp.AppendNull(dst, resp3)
	}
	return resp.AppendDouble(dst, at.score, resp3)
}

// zRank serves ZRANK.
func zRank(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return appendRank(dst, st, req, func(z zset, rank int) int { return rank })
}

// zRevRank serves ZREVRANK.
func zRevRank(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return appendRank(dst, st, req, func(z zset, rank int) int { return z.count() - 1 - rank })
}

// appendRank serves ZRANK and the like, with the option WITHSCORE of Redis 7.2.
func appendRank(dst []byte, st record.State, req *command.Request, of func(z zset, rank int) int) ([]byte, record.Effect) {
	withScore := len(req.Args) == 4
	if withScore && !isWord(req.Args[3], "withscore") {
		return refuse(dst, errSyntax)
	}
	if holdsOther(st, record.SortedSet) {
		return refuse(dst, errWrongType)
	}
	z := zsetIn(st)
	at := z.locate(req.Args[2])
	switch {
	case !at.found && withScore:
		return resp.AppendNullArray(dst, req.RESP3), noEffect
	case !at.found:
		return resp.AppendNull(dst, req.RESP3), noEffect
	case withScore:
		dst = resp.AppendArray(dst, 2)
	}
	dst = resp.AppendInt(dst, int64(of(z, z.rank(req.Args[2], at))))
	if withScore {
		dst = resp.AppendDouble(dst, at.score, req.RESP3)
	}
	return dst, noEffect
}
