package algebra

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
)

// maxReply bounds a reply as the nodes bound theirs.
const maxReply = 120 << 20

// Reply appends the reply to the command, whose keys hold these collections. It keeps nothing of its arguments.
func (c *Command) Reply(dst []byte, of []Collection, resp3 bool) []byte {
	result, problem := c.evaluate(of)
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	if c.card {
		n := int64(len(result))
		if c.limit > 0 {
			n = min(n, c.limit)
		}
		return resp.AppendInt(dst, n)
	}
	start := len(dst)
	dst = c.header(dst, len(result), resp3)
	for _, e := range result {
		if c.scores && resp3 {
			dst = resp.AppendArray(dst, 2)
		}
		dst = resp.AppendBulk(dst, e.member)
		if c.scores {
			dst = resp.AppendDouble(dst, e.score, resp3)
		}
		if len(dst)-start > maxReply {
			return resp.AppendError(dst[:start], errLongReply)
		}
	}
	return dst
}

// Result returns how many members a command stores whose keys hold these collections, and these members with their scores, those of a sorted set in its order. problem is
// what to reply if it is not empty.
func (c *Command) Result(of []Collection) (n int, members iter.Seq2[string, float64], problem string) {
	result, problem := c.evaluate(of)
	return len(result), func(yield func(string, float64) bool) {
		for _, e := range result {
			if !yield(e.member, e.score) {
				return
			}
		}
	}, problem
}

// evaluate returns what the command makes of the collections of its keys, sorted sets in their order.
func (c *Command) evaluate(of []Collection) (result []element, problem string) {
	for _, collection := range of {
		if collection.Valid() != nil {
			return nil, errDamaged
		}
	}
	if c.late != "" {
		return nil, c.late
	}
	result = c.combine(of)
	if c.scored && !c.card {
		slices.SortFunc(result, func(a, b element) int {
			if d := cmp.Compare(a.score, b.score); d != 0 {
				return d
			}
			return strings.Compare(a.member, b.member)
		})
	}
	return result, ""
}

// header appends the beginning of a reply of n members: a set is one in RESP3, members with scores are pairs there.
func (c *Command) header(dst []byte, n int, resp3 bool) []byte {
	switch {
	case !c.scored:
		return resp.AppendSet(dst, n, resp3)
	case c.scores && !resp3:
		n *= 2
	}
	return resp.AppendArray(dst, n)
}
