package datatype

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// streamEdit is what a command does to a stream. Everything is done at once to the stream that it has, so that what comes later sees it, and noted as a delta. It is a list of few
// elements, or in parts.
type streamEdit struct {
	parts    parts.Edit // of none if it is not in parts
	packed   []byte     // if it is not in parts, and nobody has had to look into it: see stream_append.go
	elements [][]byte   // if somebody has
	delta    []byte
	changed  bool
	silent   bool // no delta is needed
	// with and room are for an element that a splice of parts copies.
	with [1][]byte
	room [160]byte
}

// usualDelta is as long as most deltas are.
const usualDelta = 96

// listed is up to how many elements an edit has outside of parts.
const listed = 2 * packedElements

// edit begins an edit of a stream.
func (s stream) edit() *streamEdit {
	e := s.silentEdit()
	e.silent, e.delta = false, append(make([]byte, 0, usualDelta), deltaStream)
	return e
}

// silentEdit begins an edit whose delta nobody needs.
func (s stream) silentEdit() *streamEdit {
	e := &streamEdit{packed: s.packed, silent: true}
	if s.parts != nil {
		e.parts = s.parts.Edit()
	}
	return e
}

// sequence returns the parts, or nil.
func (e *streamEdit) sequence() *parts.Sequence { return e.parts.Sequence() }

// The steps of a delta, each the length of a key, four times, and one of these more, and the key.
const (
	elementPut     = 0 // and the length of the value, and the value
	elementRemoved = 1
	elementsCut    = 2 // and the length of another key, and that: the elements from the first to before the second are removed
	entryAdded     = 3 // and the length of the value, and the value: it is put, and the header counts it
	stepKinds      = 4
)

// place is where an element with a key is, or would be.
type place struct {
	rank  int // of the first element whose key is not before it
	found bool
	value []byte // if it was found, until the next step
}

// placeAt returns the place of a key at a rank, where this element is, or none.
func placeAt(rank int, element, key []byte) (p place) {
	p.rank = rank
	if its, value := splitElement(element); element != nil && bytes.Equal(its, key) {
		p.found, p.value = true, value
	}
	return p
}

// amongFirst returns the place of the header or a schema, which are looked for with every entry, if it is where it mostly is: the header is first, and behind it are the schemas by their numbers. There are
// n elements, and at has them by rank.
func amongFirst(key []byte, n int, at func(rank int) []byte) (p place, ok bool) {
	rank := schemaNumber(key)
	if rank == 0 && string(key) != string(headerKey) || rank >= n {
		return place{}, false
	}
	p = placeAt(rank, at(rank), key)
	return p, p.found
}

// find returns where an element with a key is as it is after what the edit has done.
func (e *streamEdit) find(key []byte) place {
	n := e.count()
	if p, ok := amongFirst(key, n, e.at); ok {
		return p
	}
	if n == 0 || len(key) > 0 && key[0] >= aboutEntry && bytes.Compare(keyOf(e.at(n-1)), key) < 0 { // as a new entry is
		return place{rank: n}
	}
	if s := e.sequence(); s != nil {
		rank, element := s.SearchKey(key)
		return placeAt(rank, element, key)
	}
	e.split()
	rank, found := slices.BinarySearchFunc(e.elements, key, func(element, key []byte) int { return bytes.Compare(keyOf(element), key) })
	if !found {
		return place{rank: rank}
	}
	return placeAt(rank, e.elements[rank], key)
}

// lookup returns the value under a key as it is after what the edit has done. It is good until the next step.
func (e *streamEdit) lookup(key []byte) (value []byte, found bool) {
	p := e.find(key)
	return p.value, p.found
}

// at returns the element of a rank. It is good until the next step.
func (e *streamEdit) at(rank int) []byte {
	if s := e.sequence(); s != nil {
		return s.At(rank)
	}
	if e.packed != nil && rank <= mostSchemas {
		return list{packed: e.packed}.at(rank)
	}
	e.split()
	return e.elements[rank]
}

// count returns how many elements there are.
func (e *streamEdit) count() int {
	if s := e.sequence(); s != nil {
		return s.Len()
	}
	if e.packed != nil {
		return list{packed: e.packed}.count()
	}
	return len(e.elements)
}

// put sets the value under a key. Both are borrowed.
func (e *streamEdit) put(key, value []byte) { e.putAt(e.find(key), key, value) }

// putAt is put for whoever knows the place of the key.
func (e *streamEdit) putAt(p place, key, value []byte) {
	e.noteWith(elementPut, key, value)
	e.setAt(p, key, value)
}

// set is put without a note, and setAt so is putAt.
func (e *streamEdit) set(key, value []byte) { e.setAt(e.find(key), key, value) }

func (e *streamEdit) setAt(p place, key, value []byte) {
	to := p.rank
	if p.found {
		to++
	}
	if e.sequence() != nil {
		e.with[0] = appendElement(e.room[:0], key, value)
		e.parts.Splice(p.rank, to, e.with[:]...)
		return
	}
	e.splice(p.rank, to, appendElement(make([]byte, 0, parts.LengthenedSize(len(key))+len(value)), key, value))
}

// putEntry adds an entry with these fields, which have their names with them, behind all others. The header does not count it.
func (e *streamEdit) putEntry(id streamID, inline []byte) {
	e.put(entryKey(id), e.entryValue(inline))
}

// addEntry adds an entry, and counts it in the header, which is lent, and is put.
func (e *streamEdit) addEntry(h *streamHeader, id streamID, inline []byte) {
	key, value := entryKey(id), e.entryValue(inline)
	e.noteWith(entryAdded, key, value)
	e.setLast(h, id, key, value)
}

// entryValue returns the value of an entry that is added, for which it may make a schema.
func (e *streamEdit) entryValue(inline []byte) []byte {
	schema := e.schemaOf(inline)
	value := binary.AppendUvarint(make([]byte, 0, 1+len(inline)), uint64(schema))
	if schema == 0 {
		return append(value, inline...)
	}
	return appendEverySecond(value, inline, true)
}

// schemaOf returns the schema of an entry that is added, which it may make, or 0 if it has none.
func (e *streamEdit) schemaOf(inline []byte) (number int) {
	rank, next := 1, 1 // behind the header
	for ; rank < e.count(); rank++ {
		key, names := splitElement(e.at(rank))
		if number = schemaNumber(key); number == 0 {
			break
		}
		if haveNames(inline, names) {
			return number
		}
		next = number + 1
	}
	if next > mostSchemas {
		return 0
	}
	var names []byte
	for last := e.count() - 1; last >= max(rank, e.count()-lookedBack); last-- {
		key, value := splitElement(e.at(last))
		if key[0] < aboutEntry {
			break
		}
		if names == nil {
			names = appendEverySecond(make([]byte, 0, len(inline)), inline, false)
		}
		if schema, size := binary.Uvarint(value); schema == 0 && haveNames(value[max(size, 0):], names) {
			e.put(schemaKey(next), names)
			return next
		}
	}
	return 0
}

// schema returns the names of one schema. They are good until the next step.
func (e *streamEdit) schema(number int) []byte {
	names, _ := e.lookup(schemaKey(number))
	return names
}

// entry returns the fields of an entry as it is after what the edit has done. They are good until the next step.
func (e *streamEdit) entry(id streamID) (f entryFields, found bool) {
	value, found := e.lookup(entryKey(id))
	return fieldsIn(value, e.schema), found
}

// remove removes the element under a key, if it is there.
func (e *streamEdit) remove(key []byte) {
	if p := e.find(key); p.found {
		e.note(elementRemoved, key)
		e.splice(p.rank, p.rank+1)
	}
}

// cut removes the elements from a key on that are before another one, and returns how many they were.
func (e *streamEdit) cut(from, to []byte) int {
	first, end := e.find(from).rank, e.find(to).rank
	if first >= end {
		return 0
	}
	e.noteWith(elementsCut, from, to)
	e.splice(first, end)
	return end - first
}

// cutUnder removes the elements whose keys begin with a prefix.
func (e *streamEdit) cutUnder(prefix []byte) int { return e.cut(prefix, behindPrefix(prefix)) }

// note begins a step of the delta.
func (e *streamEdit) note(kind uint64, key []byte) {
	e.changed = true
	if !e.silent {
		e.delta = buffer.Append(binary.AppendUvarint(e.delta, uint64(len(key))*stepKinds+kind), key)
	}
}

// noteWith is note for a step that has more than a key.
func (e *streamEdit) noteWith(kind uint64, key, more []byte) {
	if e.note(kind, key); !e.silent {
		e.delta = buffer.Append(binary.AppendUvarint(e.delta, uint64(len(more))), more)
	}
}

func (e *streamEdit) splice(from, to int, with ...[]byte) {
	if e.sequence() != nil {
		e.parts.Splice(from, to, with...)
		return
	}
	e.split()
	if e.elements = slices.Replace(e.elements, from, to, with...); len(e.elements) > listed {
		e.parts, e.elements = new(parts.Sequence).Splice(0, 0, e.elements...).Edit(), nil
	}
}

// now returns the stream as it is after what the edit has done.
func (e *streamEdit) now() stream {
	if s := e.sequence(); s != nil || e.packed != nil {
		return stream{list{parts: s, packed: e.packed}}
	}
	size := parts.UvarintSize(len(e.elements))
	for _, element := range e.elements {
		size += parts.LengthenedSize(len(element))
	}
	packed := binary.AppendUvarint(make([]byte, 0, size), uint64(len(e.elements)))
	for _, element := range e.elements {
		packed = parts.AppendLengthened(packed, element)
	}
	return stream{list{packed: packed}}
}

// run returns a reply, which begins at start in dst, and the effect of the edit on a key; or an error.
func (e *streamEdit) run(dst []byte, start int, st record.State, req *command.Request) ([]byte, record.Effect) {
	if !e.changed && st.Live() {
		return dst, noEffect
	}
	before := st.Size()
	next := e.now()
	next.list = next.settled()
	size := next.size()
	if size > longestCollection(req) && size > before {
		return refuse(dst[:start], errTooLong(record.Stream))
	}
	eff := record.Effect{Kind: record.Replaced, State: next.state(st.ExpireAt)}
	if st.Live() && size > minSpliceValue && len(e.delta) < size/minSpliceGain {
		eff.Kind, eff.Delta = record.Changed, e.delta
	}
	return dst, eff
}

// applyStream is the verb apply of streams.
func applyStream(st record.State, body []byte, _ *space) (record.State, error) {
	e := streamIn(st).silentEdit()
	for len(body) > 0 {
		head, size := binary.Uvarint(body)
		if size <= 0 || head/stepKinds > uint64(len(body)-size) {
			return record.State{}, fmt.Errorf("%w: bad step of a stream", ErrDelta)
		}
		end := size + int(head/stepKinds)
		key, more := body[size:end:end], []byte(nil)
		body = body[end:]
		if kind := head % stepKinds; kind != elementRemoved {
			var ok bool
			if more, end, ok = parts.Lengthened(body, 0); !ok {
				return record.State{}, fmt.Errorf("%w: bad step of a stream", ErrDelta)
			}
			body = body[end:]
		}
		if !e.step(head%stepKinds, key, more) {
			return record.State{}, fmt.Errorf("%w: step %d is none of this stream", ErrDelta, head%stepKinds)
		}
	}
	if _, found := e.lookup(headerKey); !found {
		return record.State{}, fmt.Errorf("%w: it leaves no stream", ErrDelta)
	}
	next := e.now()
	next.list = next.settled()
	if next.size() > MaxCollectionLen {
		return record.State{}, fmt.Errorf("%w: a stream of %d bytes", ErrDelta, next.size())
	}
	return next.state(st.ExpireAt), nil
}

// step does a step of a delta, if it is one.
func (e *streamEdit) step(kind uint64, key, more []byte) bool {
	switch kind {
	case elementPut:
		if !isElement(key, more, e.schema) {
			return false
		}
		e.put(key, more)
	case elementRemoved:
		if !e.find(key).found {
			return false
		}
		e.remove(key)
	case elementsCut:
		return e.cut(key, more) > 0
	default:
		return e.added(key, more)
	}
	return true
}

// added does the step of an entry that is added, if it is behind all others.
func (e *streamEdit) added(key, value []byte) bool {
	header, _ := e.lookup(headerKey)
	h, ok := headerIn(header)
	id, isEntry := shortIDIn(key)
	if !ok || !isEntry || !isElement(key, value, e.schema) || !h.last.less(id) || h.added == math.MaxInt64 {
		return false
	}
	e.setLast(&h, id, key, value)
	return true
}
