package datatype

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// stream is what a key has of entries, and of groups that read them, to look at. It is one list of elements, each a key and a value, in the order of the keys: so it is packed, kept in parts, built and
// sent as a list is, and what a command changes are elements. The first byte of a key says what the element is about; entries come last, because what is added at the end of a list fills its parts.
// A stream that has nothing but its header exists.
type stream struct{ list }

// What the elements of a stream are about: the first byte of their keys, in this order.
const (
	aboutStream   = 0 // behind it: nothing. The value is a streamHeader. Or the number of a schema: see entryFields.
	aboutGroup    = 1 // its name. The value is a group.
	aboutConsumer = 2 // the number of the group, the name. The value is a consumer.
	aboutPending  = 3 // the number of the group, the ID. The value is a pending.
	aboutOwned    = 4 // the numbers of the group and the consumer, the ID. There is no value: it says what is pending for whom.
	aboutEntry    = 5 // and how many bytes the ID's time has: see appendShort. The value is one of entryFields.
	aboutNothing  = aboutEntry + 9
)

// numberSize is how many bytes the number of a group or a consumer takes in a key. Names may be long, and are in a stream once.
const numberSize = 4

// streamHeader is what a stream has once.
type streamHeader struct {
	last, deleted streamID // the highest ID that was added, and that was deleted by XDEL
	added         int64
	next          uint32 // number for a group or a consumer
}

// group is a group of consumers.
type group struct {
	name   []byte
	number uint32
	last   streamID
	read   int64 // unknownRead if nobody knows how many entries the group has read
}

const unknownRead = -1

// consumer is a consumer of a group.
type consumer struct {
	name   []byte
	number uint32
	seen   int64 // when it asked for something
}

// pending is an entry that was delivered, and not acknowledged.
type pending struct {
	owner            uint32 // its consumer
	delivered, times int64
}

// streamVerbs are the verbs of streams.
var streamVerbs = verbs{
	valid: func(packed []byte) bool {
		s, ok := parts.UnpackSequence(packed)
		return ok && checkElements(s) == nil
	},
	live:  liveStream,
	build: func(size int) record.Builder { return streamBuilder{parts.NewSequenceBuilder(size)} },
	assemble: func(root record.Place, from record.Source) (record.Object, error) {
		return parts.AssembleSequence(root, from)
	},
	longest: longestCollection,
	delta:   deltaStream, apply: applyStream,
}

// liveStream is the verb live of streams.
func liveStream(packed []byte) record.Object {
	if s := (list{packed: packed}).settled().parts; s != nil && checkElements(s) == nil {
		return s
	}
	return nil
}

// streamBuilder builds a stream that is in parts.
type streamBuilder struct{ *parts.SequenceBuilder }

// State implements record.Builder.
func (b streamBuilder) State() (record.State, error) {
	s, err := b.Sequence()
	if err == nil {
		err = checkElements(s)
	}
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	if isPackedList(s.Len(), s.Size()) {
		return record.State{}, fmt.Errorf("%w: a stream of %d elements and %d bytes is packed", ErrBuild, s.Len(), s.Size())
	}
	return record.State{Type: record.Stream, Object: s}, nil
}

// streamIn returns the stream that a state has, or an empty one.
func streamIn(st record.State) stream { return stream{listIn(st)} }

// state returns the state of a key with the stream.
func (s stream) state(expireAt int64) record.State {
	st := s.list.state(expireAt)
	st.Type = record.Stream
	return st
}

// search returns the rank of the first element whose key is not before one.
func (s stream) search(key []byte) (rank int) {
	rank, _ = s.locate(key)
	return rank
}

// locate is search, and returns that element, too, borrowed, or nil if there is none.
func (s stream) locate(key []byte) (rank int, element []byte) {
	if s.parts != nil {
		return s.parts.SearchKey(key)
	}
	for element := range s.from(0) {
		if bytes.Compare(keyOf(element), key) >= 0 {
			return rank, element
		}
		rank++
	}
	return rank, nil
}

// get returns the value under a key. It is borrowed.
func (s stream) get(key []byte) (value []byte, found bool) {
	p, ok := amongFirst(key, s.count(), s.at)
	if !ok {
		rank, element := s.locate(key)
		p = placeAt(rank, element, key)
	}
	return p.value, p.found
}

// under goes through the elements whose keys begin with a prefix, from a key on: what their keys have behind the prefix, and their values.
func (s stream) under(prefix, from []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(rest, value []byte) bool) {
		for element := range s.from(s.search(from)) {
			key, value := splitElement(element)
			if !bytes.HasPrefix(key, prefix) || !yield(key[len(prefix):], value) {
				return
			}
		}
	}
}

// countUnder returns how many keys begin with a prefix.
func (s stream) countUnder(prefix []byte) int {
	return s.search(behindPrefix(prefix)) - s.search(prefix)
}

// behindPrefix returns a key that is behind all that begin with a prefix, the first byte of which says what the element is about.
func behindPrefix(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; ; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
}

// header returns the header.
func (s stream) header() (h streamHeader) {
	if s.count() == 0 {
		return h
	}
	if about, value := splitElement(s.at(0)); len(about) == 1 && about[0] == aboutStream {
		h, _ = headerIn(value)
	}
	return h
}

// headerSize is about how many bytes the value of the header has.
const headerSize = 2*idSize + 8

// append appends the value of the header's element.
func (h streamHeader) append(dst []byte) []byte {
	dst = h.deleted.append(h.last.append(dst))
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(h.added)), uint64(h.next))
}

func headerIn(b []byte) (h streamHeader, ok bool) {
	if len(b) < 2*idSize {
		return h, false
	}
	h.last, h.deleted = idIn(b), idIn(b[idSize:])
	r := numbersIn{b[2*idSize:], true}
	h.added, h.next = int64(r.upTo(math.MaxInt64)), uint32(r.upTo(math.MaxUint32))
	return h, r.done()
}

// append appends the value of a group's element.
func (g *group) append(dst []byte) []byte {
	dst = g.last.append(binary.BigEndian.AppendUint32(dst, g.number))
	return binary.AppendUvarint(dst, uint64(g.read-unknownRead))
}

func groupIn(name, b []byte) (g group, ok bool) {
	if len(b) < numberSize+idSize {
		return g, false
	}
	g.name, g.number, g.last = name, binary.BigEndian.Uint32(b), idIn(b[numberSize:])
	r := numbersIn{b[numberSize+idSize:], true}
	g.read = int64(r.upTo(math.MaxInt64)) + unknownRead
	return g, r.done()
}

// append appends the value of a consumer's element.
func (c *consumer) append(dst []byte) []byte {
	return binary.AppendUvarint(binary.BigEndian.AppendUint32(dst, c.number), uint64(c.seen))
}

func consumerIn(name, b []byte) (c consumer, ok bool) {
	if len(b) < numberSize {
		return c, false
	}
	c.name, c.number = name, binary.BigEndian.Uint32(b)
	r := numbersIn{b[numberSize:], true}
	c.seen = int64(r.upTo(math.MaxInt64))
	return c, r.done()
}

// append appends the value of a pending entry's element.
func (p pending) append(dst []byte) []byte {
	dst = binary.AppendUvarint(binary.BigEndian.AppendUint32(dst, p.owner), uint64(p.delivered))
	return binary.AppendUvarint(dst, uint64(p.times))
}

func pendingIn(b []byte) (p pending, ok bool) {
	if len(b) < numberSize {
		return p, false
	}
	p.owner = binary.BigEndian.Uint32(b)
	r := numbersIn{b[numberSize:], true}
	p.delivered, p.times = int64(r.upTo(math.MaxInt64)), int64(r.upTo(math.MaxUint64))
	return p, r.done()
}

// numbersIn reads numbers, and whether all were good.
type numbersIn struct {
	left []byte
	ok   bool
}

func (r *numbersIn) upTo(most uint64) uint64 {
	n, size := binary.Uvarint(r.left)
	if size <= 0 || n > most {
		r.ok = false
		return 0
	}
	r.left = r.left[size:]
	return n
}

// done reports whether all numbers were good, and nothing is behind them.
func (r *numbersIn) done() bool { return r.ok && len(r.left) == 0 }

// The keys of elements.

var headerKey = []byte{aboutStream}

func groupKey(name []byte) []byte { return append([]byte{aboutGroup}, name...) }

func consumerKey(group uint32, name []byte) []byte {
	return append(ofGroup(aboutConsumer, group), name...)
}

func pendingKey(group uint32, id streamID) []byte { return id.append(ofGroup(aboutPending, group)) }

func ownedKey(group, owner uint32, id streamID) []byte { return id.append(ownedBy(group, owner)) }

func entryKey(id streamID) []byte { return id.appendShort(make([]byte, 0, shortIDSize)) }

// ofGroup returns what the keys of a group begin with.
func ofGroup(about byte, group uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, 1+2*numberSize+idSize), about), group)
}

// ownedBy returns what the keys begin with that say what is pending for a consumer.
func ownedBy(group, owner uint32) []byte {
	return binary.BigEndian.AppendUint32(ofGroup(aboutOwned, group), owner)
}

// An element is the length of its key, the key, the value.

func appendElement(dst, key, value []byte) []byte {
	return append(append(binary.AppendUvarint(dst, uint64(len(key))), key...), value...)
}

// splitElement takes an element apart. What is none has no key.
func splitElement(element []byte) (key, value []byte) {
	n, size := binary.Uvarint(element)
	if size <= 0 || n > uint64(len(element)-size) {
		return nil, nil
	}
	end := size + int(n)
	return element[size:end:end], element[end:]
}

func keyOf(element []byte) []byte {
	key, _ := splitElement(element)
	return key
}

// checkElements reports what is wrong with elements that may come from elsewhere, of which there is at least one.
func checkElements(s *parts.Sequence) error {
	var last []byte
	schemas := stream{list{parts: s}}.schemas()
	for element := range s.From(0) {
		key, value := splitElement(element)
		if !isElement(key, value, schemas.names) || last == nil && key[0] != aboutStream || last != nil && bytes.Compare(last, key) >= 0 {
			return errElements
		}
		last = key
	}
	return nil
}

var errElements = fmt.Errorf("%w: elements of a stream are out of order, or none", errDump)

// isElement reports whether a key and a value are an element of a stream with some schemas.
func isElement(key, value []byte, names func(schema int) []byte) (ok bool) {
	if len(key) == 0 {
		return false
	}
	switch rest := key[1:]; key[0] {
	case aboutStream:
		if len(rest) == 0 {
			_, ok = headerIn(value)
			return ok
		}
		return len(rest) == 1 && rest[0] > 0 && rest[0] <= mostSchemas && countPieces(value) > 0
	case aboutGroup:
		_, ok = groupIn(rest, value)
		return ok
	case aboutConsumer:
		_, ok = consumerIn(rest, value)
		return ok && len(rest) >= numberSize
	case aboutPending:
		_, ok = pendingIn(value)
		return ok && len(rest) == numberSize+idSize
	case aboutOwned:
		return len(value) == 0 && len(rest) == 2*numberSize+idSize
	}
	return isShortID(key) && isEntryValue(value, names)
}
