package datatype

import (
	"math"
	"math/bits"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
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
		return r.some(dst, st.Value, count, &d), noEffect
	}
	return r.any(dst, st.Value, -count, &d, longest(req))
}

// randomField replies one field.
func randomField(dst []byte, st record.State, req *command.Request, d *dice) ([]byte, record.Effect) {
	if holdsOther(st, record.Hash) {
		return refuse(dst, errWrongType)
	}
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	f := fieldsOf(st.Value)
	for range d.below(fieldCount(st.Value)) + 1 {
		f.next()
	}
	return resp.AppendBulk(dst, f.field), noEffect
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

// some replies count different fields, or all there are, in the order of the hash (Knuth's algorithm S).
func (r fieldReply) some(dst, hash []byte, count int64, d *dice) []byte {
	left := fieldCount(hash)
	missing := int(min(count, int64(left)))
	dst = r.header(dst, missing)
	for f := fieldsOf(hash); missing > 0 && f.next(); left-- {
		if d.below(left) < missing {
			dst = r.append(dst, f.field, f.value)
			missing--
		}
	}
	return dst
}

// any replies count fields, any of which may be there several times. It refuses what would be longer than longest.
func (r fieldReply) any(dst, hash []byte, count int64, d *dice, longest int) ([]byte, record.Effect) {
	const leastReply = 6 // of an empty field
	if count > int64(longest/leastReply) {
		return refuse(dst, errReplyTooLong)
	}
	type pair struct{ field, value []byte }
	all := make([]pair, 0, fieldCount(hash))
	for f := fieldsOf(hash); f.next(); {
		all = append(all, pair{f.field, f.value})
	}
	start := len(dst)
	dst = r.header(dst, int(count))
	for range count {
		chosen := all[d.below(len(all))]
		dst = r.append(dst, chosen.field, chosen.value)
		if len(dst)-start > longest {
			return refuse(dst[:start], errReplyTooLong)
		}
	}
	return dst, noEffect
}

// dice makes random numbers of one (splitmix64).
type dice uint64

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	high, _ := bits.Mul64(mix(uint64(*d)), uint64(n))
	return int(high)
}
