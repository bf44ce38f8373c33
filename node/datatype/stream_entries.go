package datatype

import (
	"iter"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// aboutEntries is what no key of an entry is before, and behindEntries what all are before.
var aboutEntries, behindEntries = []byte{aboutEntry}, []byte{aboutNothing}

// firstEntry returns the rank of the first entry: all elements from there on are entries.
func (s stream) firstEntry() int { return s.search(aboutEntries) }

// length returns how many entries there are.
func (s stream) length() int { return s.count() - s.firstEntry() }

// top returns the ID of the last entry, the zero ID if there is none.
func (s stream) top() (id streamID) {
	if n := s.count(); n > 0 {
		id, _ = entryID(s.at(n - 1))
	}
	return id
}

// entryID returns the ID of an entry. ok is false if an element is none.
func entryID(element []byte) (id streamID, ok bool) { return shortIDIn(keyOf(element)) }

// schemas are the names of those that a stream has, by their numbers.
type schemas [mostSchemas + 1][]byte

func (s *schemas) names(number int) []byte { return s[number] }

// schemas returns the schemas. They are good as long as the stream is.
func (s stream) schemas() *schemas {
	all := new(schemas)
	for element := range s.from(0) {
		key, value := splitElement(element)
		if len(key) == 0 || key[0] != aboutStream {
			break
		}
		if number := schemaNumber(key); number <= mostSchemas {
			all[number] = value
		}
	}
	all[0] = nil // the header
	return all
}

// schema returns the names of one schema. They are borrowed.
func (s stream) schema(number int) []byte {
	names, _ := s.get(schemaKey(number))
	return names
}

// entry returns the fields of an entry.
func (s stream) entry(id streamID) (f entryFields, found bool) {
	value, found := s.get(entryKey(id))
	return fieldsIn(value, s.schema), found
}

// few is how many elements are read one by one. To read more of them a stream that is in parts is frozen, so that the next change has to copy what it changes.
const few = 16

// entries goes through the entries of a range, of which both ends are included, with their fields and values: through all of them, or as many as are wanted, which is above 0. They are good
// until somebody changes the stream.
func (s stream) entries(from, to streamID, most int64) iter.Seq2[streamID, entryFields] {
	return s.entriesOf(most, func(yield func([]byte) bool) {
		rank := s.search(entryKey(from))
		if s.parts == nil || !isFew(most) {
			s.from(rank)(yield)
			return
		}
		for ; rank < s.count() && yield(s.at(rank)); rank++ {
			continue
		}
	}, func(id streamID) bool { return to.less(id) })
}

// entriesBack is entries from the last one to the first one.
func (s stream) entriesBack(from, to streamID, most int64) iter.Seq2[streamID, entryFields] {
	return s.entriesOf(most, func(yield func([]byte) bool) {
		rank := s.count()
		if next, ok := to.next(); ok {
			rank = s.search(entryKey(next))
		}
		if s.parts == nil || !isFew(most) {
			s.before(rank)(yield)
			return
		}
		for rank--; rank >= 0 && yield(s.at(rank)); rank-- {
			continue
		}
	}, func(id streamID) bool { return id.less(from) })
}

func isFew(n int64) bool { return n > 0 && n <= few }

// entriesOf goes through the entries that elements begin with, until one is outside, and as many as are wanted.
func (s stream) entriesOf(most int64, elements iter.Seq[[]byte], outside func(streamID) bool) iter.Seq2[streamID, entryFields] {
	return func(yield func(streamID, entryFields) bool) {
		names := s.schema
		if !isFew(most) {
			names = s.schemas().names
		}
		for element := range elements {
			key, value := splitElement(element)
			id, ok := shortIDIn(key)
			if !ok || outside(id) || !yield(id, fieldsIn(value, names)) {
				return
			}
			if most--; most == 0 {
				return
			}
		}
	}
}

// before goes through the elements before a rank, from the last one to the first one.
func (s stream) before(end int) iter.Seq[[]byte] {
	if s.parts != nil {
		return s.parts.Back(end - 1)
	}
	var elements [][]byte
	for element := range s.from(0) {
		if len(elements) == end {
			break
		}
		elements = append(elements, element)
	}
	return func(yield func([]byte) bool) {
		for _, element := range slices.Backward(elements) {
			if !yield(element) {
				return
			}
		}
	}
}

// appendID appends an ID as a reply.
func appendID(dst []byte, id streamID) []byte {
	var room [48]byte
	return resp.AppendBulk(dst, id.appendText(room[:0]))
}

// appendEntry appends an entry as a reply.
func appendEntry(dst []byte, id streamID, f entryFields) []byte {
	dst = appendID(resp.AppendArray(dst, 2), id)
	dst = resp.AppendArray(dst, f.count())
	for piece := range f.pieces() {
		dst = resp.AppendBulk(dst, piece)
	}
	return dst
}

// gathering is an array of replies, of which it is not known how many there will be. It may not become longer than a reply may be.
type gathering struct {
	items []byte
	n     int
}

// add takes the items with one more, and reports whether they are still short enough.
func (g *gathering) add(items []byte) bool {
	g.items = items
	g.n++
	return len(items) <= maxReply
}

// appendTo appends the array.
func (g *gathering) appendTo(dst []byte) []byte {
	return append(resp.AppendArray(dst, g.n), g.items...)
}

// gatherEntries gathers entries. It reports false if they are too much for a reply.
func gatherEntries(entries iter.Seq2[streamID, entryFields]) (g gathering, ok bool) {
	for id, fields := range entries {
		if !g.add(appendEntry(g.items, id, fields)) {
			return g, false
		}
	}
	return g, true
}

// xLen serves XLEN.
func xLen(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Stream) {
		return refuse(dst, errWrongType)
	}
	return resp.AppendInt(dst, int64(streamIn(st).length())), noEffect
}

// xRange serves XRANGE, and xRevRange XREVRANGE.
func xRange(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return rangeOf(dst, st, req, req.Args[2], req.Args[3], stream.entries)
}

func xRevRange(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return rangeOf(dst, st, req, req.Args[3], req.Args[2], stream.entriesBack)
}

func rangeOf(dst []byte, st record.State, req *command.Request, start, end []byte, of func(s stream, from, to streamID, most int64) iter.Seq2[streamID, entryFields]) ([]byte, record.Effect) {
	from, problem := parseStart(start)
	to := streamID{}
	if problem == "" {
		to, problem = parseEnd(end)
	}
	if problem != "" {
		return refuse(dst, problem)
	}
	count := int64(-1)
	for rest := req.Args[4:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 || !isWord(rest[0], "count") {
			return refuse(dst, errSyntax)
		}
		n, ok := parseInt(rest[1])
		if !ok {
			return refuse(dst, errNotInteger)
		}
		count = max(n, 0)
	}
	switch {
	case !st.Live():
		return resp.AppendArray(dst, 0), noEffect
	case st.Type != record.Stream:
		return refuse(dst, errWrongType)
	case count == 0:
		return resp.AppendNullArray(dst, req.RESP3), noEffect
	}
	g, ok := gatherEntries(of(streamIn(st), from, to, count))
	if !ok {
		return refuse(dst, errMuchReply)
	}
	return g.appendTo(dst), noEffect
}

// xDel serves XDEL.
func xDel(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Stream) {
		return refuse(dst, errWrongType)
	}
	if !st.Live() {
		return resp.AppendInt(dst, 0), noEffect
	}
	ids, ok := parseIDs(req.Args[2:])
	if !ok {
		return refuse(dst, errStreamID)
	}
	s := streamIn(st)
	e, h, deleted := s.edit(), s.header(), int64(0)
	for _, id := range ids {
		key := entryKey(id)
		if !e.find(key).found {
			continue
		}
		e.remove(key)
		deleted++
		if h.deleted.less(id) {
			h.deleted = id
		}
	}
	if deleted > 0 {
		e.put(headerKey, h.append(nil))
	}
	return e.run(resp.AppendInt(dst, deleted), len(dst), st, req)
}

// xSetID serves XSETID.
func xSetID(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	id, ok := parseID(req.Args[2], 0)
	if !ok {
		return refuse(dst, errStreamID)
	}
	added, deleted := int64(-1), streamID{}
	for rest := req.Args[3:]; len(rest) > 0; rest = rest[2:] {
		switch more := len(rest) > 1; {
		case more && isWord(rest[0], "entriesadded"):
			if added, ok = parseInt(rest[1]); !ok {
				return refuse(dst, errNotInteger)
			} else if added < 0 {
				return refuse(dst, "ERR entries_added must be positive")
			}
		case more && isWord(rest[0], "maxdeletedid"):
			if deleted, ok = parseID(rest[1], 0); !ok {
				return refuse(dst, errStreamID)
			} else if id.less(deleted) {
				return refuse(dst, "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
			}
		default:
			return refuse(dst, errSyntax)
		}
	}
	switch {
	case !st.Live():
		return refuse(dst, errNoKey)
	case st.Type != record.Stream:
		return refuse(dst, errWrongType)
	}
	s := streamIn(st)
	h, length := s.header(), s.length()
	switch {
	case length > 0 && id.less(s.top()):
		return refuse(dst, "ERR The ID specified in XSETID is smaller than the target stream top item")
	case length > 0 && added != -1 && int64(length) > added:
		return refuse(dst, "ERR The entries_added specified in XSETID is smaller than the target stream length")
	}
	h.last = id
	if added != -1 {
		h.added = added
	}
	if !deleted.isZero() {
		h.deleted = deleted
	}
	e := s.edit()
	e.put(headerKey, h.append(nil))
	return e.run(append(dst, resp.OK...), len(dst), st, req)
}
