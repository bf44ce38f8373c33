package datatype

import (
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// hRandField serves HRANDFIELD key [count [WITHVALUES]].
func hRandField(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	d := dice(req.Random)
	if len(req.Args) == 2 {
		return randomField(dst, st, req, &d)
	}
	count, ok := parseInt(req.Args[2])
	withValues := len(req.Args) > 3
	switch {
	case !ok:
		return refuse(dst, errNotInteger)
	case count == math.MinInt64:
		return refuse(dst, errLongRange)
	case len(req.Args) > 4, withValues && !isWord(req.Args[3], "withvalues"):
		return refuse(dst, errSyntax)
	case withValues && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		return refuse(dst, errOutOfRange)
	case holdsOther(st, record.Hash):
		return refuse(dst, errWrongType)
	case !st.Live() || count == 0:
		return resp.AppendArray(dst, 0), noEffect
	}
	r := fieldReply{resp3: req.RESP3, values: withValues}
	if count > 0 {
		return r.some(dst, hashIn(st), count, &d), noEffect
	}
	return r.any(dst, hashIn(st), -count, &d, longest(req))
}

// randomField replies one field.
func randomField(dst []byte, st record.State, req *command.Request, d *dice) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	h := hashIn(st)
	field, _ := h.at(d.below(h.count()))
	return resp.AppendBulk(dst, field), noEffect
}

// fieldReply is how fields are replied: with their values, and then in RESP3 as pairs, or without.
type fieldReply struct{ resp3, values bool }

// header appends the beginning of a reply of n fields.
func (r fieldReply) header(dst []byte, n int) []byte {
	if r.values && !r.resp3 {
		n *= 2
	}
	return resp.AppendArray(dst, n)
}

func (r fieldReply) append(dst, field, value []byte) []byte {
	if !r.values {
		return resp.AppendBulk(dst, field)
	}
	if r.resp3 {
		dst = resp.AppendArray(dst, 2)
	}
	return resp.AppendBulk(resp.AppendBulk(dst, field), value)
}

// some replies count different fields, or all there are, in the order of the hash.
func (r fieldReply) some(dst []byte, h hash, count int64, d *dice) []byte {
	missing := int(min(count, int64(h.count())))
	dst = r.header(dst, missing)
	for field, value := range h.choose(missing, d) {
		dst = r.append(dst, field, value)
	}
	return dst
}

// choose goes through so many different fields, chosen by chance.
func (h hash) choose(missing int, d *dice) iter.Seq2[[]byte, []byte] {
	const few = 64 // one of how many fields is asked for by its rank, or else all are gone through
	if h.parts != nil && missing < h.count()/few {
		return h.ranked(d.ranks(missing, h.count()))
	}
	return func(yield func(field, value []byte) bool) { // Knuth's algorithm S
		left := h.count()
		for field, value := range h.all() {
			if missing == 0 {
				return
			}
			if d.below(left) < missing {
				if !yield(field, value) {
					return
				}
				missing--
			}
			left--
		}
	}
}

// ranked goes through the fields with these ranks.
func (h hash) ranked(ranks []int) iter.Seq2[[]byte, []byte] {
	return func(yield func(field, value []byte) bool) {
		for _, rank := range ranks {
			if !yield(h.at(rank)) {
				return
			}
		}
	}
}

// at returns the field with a rank.
func (h hash) at(rank int) (field, value []byte) {
	if h.parts != nil {
		return h.parts.At(rank)
	}
	f := fieldsOf(h.packed)
	for range rank + 1 {
		f.next()
	}
	return f.field, f.value
}

// any replies count fields, any of which may be there several times. It refuses what would be longer than longest.
func (r fieldReply) any(dst []byte, h hash, count int64, d *dice, longest int) ([]byte, record.Effect) {
	const leastReply = 6 // of an empty field
	if count > int64(longest/leastReply) {
		return refuse(dst, errReplyTooLong)
	}
	start, at := len(dst), h.random()
	dst = r.header(dst, int(count))
	for range count {
		field, value := at(d.below(h.count()))
		dst = r.append(dst, field, value)
		if len(dst)-start > longest {
			return refuse(dst[:start], errReplyTooLong)
		}
	}
	return dst, noEffect
}

// random returns what finds fields by their ranks quickly, many times.
func (h hash) random() func(rank int) (field, value []byte) {
	if h.parts != nil {
		return h.parts.At
	}
	type pair struct{ field, value []byte }
	all := make([]pair, 0, h.count())
	for field, value := range h.all() {
		all = append(all, pair{field, value})
	}
	return func(rank int) (field, value []byte) { return all[rank].field, all[rank].value }
}

// dice makes random numbers of one (splitmix64).
type dice uint64

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	high, _ := bits.Mul64(parts.Mix(uint64(*d)), uint64(n))
	return int(high)
}

// ranks returns count different numbers below n, in ascending order (Floyd's algorithm).
func (d *dice) ranks(count, n int) []int {
	chosen := make(map[int]struct{}, count)
	for i := n - count; i < n; i++ {
		rank := d.below(i + 1)
		if _, taken := chosen[rank]; taken {
			rank = i
		}
		chosen[rank] = struct{}{}
	}
	return slices.Sorted(maps.Keys(chosen))
}
