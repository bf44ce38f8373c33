package datatype

import (
	"iter"
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// zsetElements are the members of a sorted set with their scores, as appendCode keeps them: packed in the order of the sorted set, and else in that of their positions.
type zsetElements struct{ zset }

func zsetElementsIn(st record.State) elements { return zsetElements{zsetIn(st)} }

// all implements elements.
func (z zsetElements) all() iter.Seq2[[]byte, []byte] {
	if z.board != nil {
		return z.board.scores.All()
	}
	return func(yield func(name, value []byte) bool) {
		for e := packedScores(z.packed); e.next(); {
			if size := 1 + int(e.element[0]); !yield(e.element[size:], e.element[:size]) {
				return
			}
		}
	}
}

// at implements elements.
func (z zsetElements) at(rank int) (name, value []byte) {
	if z.board != nil {
		return z.board.scores.At(rank)
	}
	for name, value = range z.all() {
		if rank == 0 {
			break
		}
		rank--
	}
	return name, value
}

// byPosition implements elements.
func (z zsetElements) byPosition() *parts.Map {
	if z.board != nil {
		return z.board.scores
	}
	return nil
}

// zScan serves ZSCAN.
func zScan(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	format := resp.FormatDouble
	if st.Object == nil {
		format = formatSmall
	}
	return scanned{
		of:   record.SortedSet,
		open: zsetElementsIn,
		append: func(page [][]byte, member, code []byte) [][]byte {
			score, _ := codedScore(code)
			return append(page, member, format(nil, score))
		},
	}.page(dst, st, req)
}

// formatSmall appends a score as ZSCAN shows those of Redis' small sorted sets, which keep integers as integers.
func formatSmall(dst []byte, score float64) []byte {
	const most = 1 << 62
	if -most <= score && score <= most && score == float64(int64(score)) {
		return strconv.AppendInt(dst, int64(score), 10)
	}
	return resp.FormatDouble(dst, score)
}

// zRandMember serves ZRANDMEMBER key [count [WITHSCORES]].
func zRandMember(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return random{
		of:     record.SortedSet,
		open:   zsetElementsIn,
		option: "withscores",
		value: func(dst, code []byte, resp3 bool) []byte {
			score, _ := codedScore(code)
			return resp.AppendDouble(dst, score, resp3)
		},
	}.serve(dst, st, req)
}
