package datatype

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// hRandField serves HRANDFIELD key [count [WITHVALUES]].
func hRandField(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return random{
		of:     record.Hash,
		open:   func(st record.State) elements { return hashIn(st) },
		option: "withvalues",
		value:  func(dst, value []byte, _ bool) []byte { return resp.AppendBulk(dst, value) },
	}.serve(dst, st, req)
}

// random is how elements are chosen of a type of collections: how one is looked at, which option asks for the values, and how one of these is replied.
type random struct {
	of     record.Type
	open   func(st record.State) elements
	option string
	value  func(dst, value []byte, resp3 bool) []byte
}

// serve serves key [count [option]], as HRANDFIELD and ZRANDMEMBER have them.
func (r random) serve(dst []byte, st record.State, req *command.Request) ([]byte, record.Effect) {
	d := dice(req.Random)
	if len(req.Args) == 2 {
		return r.one(dst, st, req, &d)
	}
	count, ok := parseInt(req.Args[2])
	withValues := len(req.Args) > 3
	switch {
	case !ok:
		return refuse(dst, errNotInteger)
	case count == math.MinInt64:
		return refuse(dst, errLongRange)
	case len(req.Args) > 4, withValues && !isWord(req.Args[3], r.option):
		return refuse(dst, errSyntax)
	case withValues && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		return refuse(dst, errOutOfRange)
	case holdsOther(st, r.of):
		return refuse(dst, errWrongType)
	case !st.Live() || count == 0:
		return resp.AppendArray(dst, 0), noEffect
	}
	chosen := choice{resp3: req.RESP3}
	if withValues {
		chosen.value = r.value
	}
	if count > 0 {
		return chosen.some(dst, r.open(st), count, &d), noEffect
	}
	return chosen.any(dst, r.open(st), -count, &d, longest(req))
}

// one replies one element.
func (r random) one(dst []byte, st record.State, req *command.Request, d *dice) ([]byte, record.Effect) {
	if holdsOther(st, r.of) {
		return refuse(dst, errWrongType)
	}
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	e := r.open(st)
	name, _ := e.at(d.below(e.count()))
	return resp.AppendBulk(dst, name), noEffect
}

// choice is how elements are replied that were chosen: with their values, and then in RESP3 as pairs, or, if value is nil, without.
type choice struct {
	resp3 bool
	value func(dst, value []byte, resp3 bool) []byte
}

// header appends the beginning of a reply of n elements.
func (c choice) header(dst []byte, n int) []byte {
	if c.value != nil && !c.resp3 {
		n *= 2
	}
	return resp.AppendArray(dst, n)
}

func (c choice) append(dst, name, value []byte) []byte {
	if c.value == nil {
		return resp.AppendBulk(dst, name)
	}
	if c.resp3 {
		dst = resp.AppendArray(dst, 2)
	}
	return c.value(resp.AppendBulk(dst, name), value, c.resp3)
}

// some replies count different elements, or all there are, in the order of the collection.
func (c choice) some(dst []byte, e elements, count int64, d *dice) []byte {
	missing := int(min(count, int64(e.count())))
	dst = c.header(dst, missing)
	for name, value := range d.choose(missing, e) {
		dst = c.append(dst, name, value)
	}
	return dst
}

// any replies count elements, any of which may be there several times. It refuses what would be longer than longest.
func (c choice) any(dst []byte, e elements, count int64, d *dice, longest int) ([]byte, record.Effect) {
	const leastReply = 6 // of an empty name
	if count > int64(longest/leastReply) {
		return refuse(dst, errReplyTooLong)
	}
	start, at := len(dst), finder(e)
	dst = c.header(dst, int(count))
	for range count {
		name, value := at(d.below(e.count()))
		dst = c.append(dst, name, value)
		if len(dst)-start > longest {
			return refuse(dst[:start], errReplyTooLong)
		}
	}
	return dst, noEffect
}
