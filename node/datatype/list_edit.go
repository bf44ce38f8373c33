package datatype

import (
	"encoding/binary"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// cut takes the elements of the ranks [from, to) out of a list, and puts others, which are borrowed, in their place. All that commands do to lists is
// done by some.
type cut struct {
	from, to int
	with     [][]byte
}

// cuts are the cuts of one command. They do not overlap, are in order, and all ranks are those of the list before.
type cuts []cut

// run returns a reply, which begins at start in dst, and the effect of the cuts on the list of a key; or an error.
func (c cuts) run(dst []byte, start int, st record.State, req *command.Request) ([]byte, record.Effect) {
	l, delta := listIn(st), c.deltaSize()
	if c.count(l) == 0 {
		return dst, deleted()
	}
	short := 0
	if l.parts == nil {
		short = min(c.size(l), record.CopiedValue)
	}
	dst, s := behind(dst, short+min(delta, record.CopiedValue))
	next := c.apply(l, &s)
	size := next.size()
	if size > longestCollection(req) && size > l.size() {
		return refuse(dst[:start], errTooLong(record.List))
	}
	eff := record.Effect{Kind: record.Replaced, State: next.state(st.ExpireAt)}
	if st.Live() && size > minSpliceValue && delta < size/minSpliceGain {
		eff.Kind, eff.Delta = record.Changed, c.appendDelta(s.take(delta), l.count())
	}
	return dst, eff
}

// count returns how many elements a list will have.
func (c cuts) count(l list) int {
	n := l.count()
	for i := range c {
		n += len(c[i].with) - (c[i].to - c[i].from)
	}
	return n
}

// size returns how many bytes a packed list will have.
func (c cuts) size(l list) int {
	size, rank, at := len(l.packed)-l.head(), 0, l.head()
	for _, cut := range c {
		start := l.skip(at, rank, cut.from)
		rank, at = cut.to, l.skip(start, cut.from, cut.to)
		size -= at - start
		for _, element := range cut.with {
			size += parts.LengthenedSize(len(element))
		}
	}
	return parts.UvarintSize(c.count(l)) + size
}

// apply returns the list with the cuts, which leave some elements.
func (c cuts) apply(l list, s *space) list {
	const most = 8 // part of the elements between which there are cuts that are done one after the other
	if l.parts == nil || len(c) > 1+l.count()/most {
		return c.applyPacked(l.pack(), s).settled()
	}
	e := l.parts.Edit()
	for i := len(c) - 1; i >= 0; i-- {
		e.Splice(c[i].from, c[i].to, c[i].with...)
	}
	return list{parts: e.Sequence()}.settled()
}

// applyPacked is apply for a packed list.
func (c cuts) applyPacked(l list, s *space) list {
	next := binary.AppendUvarint(s.take(c.size(l)), uint64(c.count(l)))
	rank, at := 0, l.head()
	for _, cut := range c {
		start := l.skip(at, rank, cut.from)
		next = buffer.Append(next, l.packed[at:start])
		for _, element := range cut.with {
			next = parts.AppendLengthened(next, element)
		}
		rank, at = cut.to, l.skip(start, cut.from, cut.to)
	}
	return list{packed: buffer.Append(next, l.packed[at:])}
}

// deltaSize is about how many bytes appendDelta appends, and no fewer.
func (c cuts) deltaSize() int {
	const number = 5 // more is no list
	size := 1 + number
	last := 0
	for _, cut := range c {
		size += parts.UvarintSize(cut.from-last) + parts.UvarintSize(cut.to-cut.from) + parts.UvarintSize(len(cut.with))
		for _, element := range cut.with {
			size += parts.LengthenedSize(len(element))
		}
		last = cut.to
	}
	return size
}

// appendDelta encodes the cuts: how many elements the list has, then of each cut how many elements are between the one before and it, how many it takes out, and how
// many it puts there, and those, each with its length.
func (c cuts) appendDelta(delta []byte, elements int) []byte {
	delta = binary.AppendUvarint(append(delta, deltaElements), uint64(elements))
	last := 0
	for _, cut := range c {
		delta = binary.AppendUvarint(delta, uint64(cut.from-last))
		delta = binary.AppendUvarint(delta, uint64(cut.to-cut.from))
		delta = binary.AppendUvarint(delta, uint64(len(cut.with)))
		for _, element := range cut.with {
			delta = parts.AppendLengthened(delta, element)
		}
		last = cut.to
	}
	return delta
}

// decodeCuts reads what appendDelta wrote, without its tag, for a list of so many elements, and appends the cuts, which borrow it.
func decodeCuts(c cuts, body []byte, elements int) (_ cuts, ok bool) {
	number := func(most int) int {
		n, size := binary.Uvarint(body)
		if size <= 0 || n > uint64(most) {
			ok = false
			return 0
		}
		body = body[size:]
		return int(n)
	}
	ok = true
	if number(elements) != elements {
		return c, false
	}
	for last := 0; ok && len(body) > 0; {
		from := last + number(elements-last)
		to := from + number(elements-from)
		var with [][]byte
		for n := number(len(body)); ok && n > len(with); {
			element, end, is := parts.Lengthened(body, 0)
			ok = ok && is
			body = body[end:]
			with = append(with, element)
		}
		c = append(c, cut{from, to, with})
		last = to
	}
	return c, ok && len(c) > 0
}

// applyElements is the verb apply of lists.
func applyElements(st record.State, body []byte, s *space) (record.State, error) {
	l := listIn(st)
	var room [2]cut
	c, ok := decodeCuts(room[:0], body, l.count())
	if !ok {
		return record.State{}, fmt.Errorf("%w: bad elements for a list of %d", ErrDelta, l.count())
	}
	if c.count(l) <= 0 {
		return record.State{}, fmt.Errorf("%w: no element of %d is left", ErrDelta, l.count())
	}
	next := c.apply(l, s)
	if next.size() > MaxCollectionLen {
		return record.State{}, fmt.Errorf("%w: elements that leave a list of %d bytes", ErrDelta, next.size())
	}
	return next.state(st.ExpireAt), nil
}
