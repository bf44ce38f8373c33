package rdb

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/quolldb/quoll/internal/resp"
)

// StreamID is the ID of an entry of a stream.
type StreamID struct{ Ms, Seq uint64 }

// StreamCounters are what a stream has once.
type StreamCounters struct {
	// Last is the highest ID that was added, Deleted the highest that was deleted.
	Last, Deleted StreamID
	// Added is how many entries were ever added.
	Added uint64
}

// UnknownRead is how many entries a group has read if nobody knows, as it is written. Before Redis 7.0 it was not: then it is NotWritten.
const (
	UnknownRead = math.MaxUint64
	NotWritten  = math.MaxUint64 - 1
)

// StreamVisitor is told what a stream consists of: first of each entry, and of its fields and values, one after the other; then of the counters; then of each group, of what is pending in it, of its consumers,
// and after each of these, of what of that is the consumer's. What it is given is borrowed. Its errors end the reading.
type StreamVisitor interface {
	// Entry begins an entry with so many fields and values.
	Entry(id StreamID, items int) error
	Item(item []byte) error
	Counters(c StreamCounters) error
	Group(name []byte, last StreamID, read uint64) error
	Pending(id StreamID, delivered int64, times uint64) error
	Consumer(name []byte, seen int64) error
	Owned(id StreamID) error
}

// streamIDSize is how many bytes an ID takes that is not written as two lengths.
const streamIDSize = 16

// Flags of entries.
const (
	entryDeleted   = 1
	entrySameNames = 2
)

// Stream tells a visitor what the stream, which the value is, consists of. That IDs are in order, and that what is a consumer's is pending, is for the visitor to see. Errors are those of the visitor, or wrap
// ErrFormat or ErrTooLong.
func (v Value) Stream(to StreamVisitor) error {
	s := streamReader{r: &reader{data: v.body, left: v.limit}, typ: v.typ, left: v.limit, to: to}
	nodes, err := s.r.length()
	for ; err == nil && nodes > 0; nodes-- {
		err = s.node()
	}
	if err == nil {
		err = s.counters()
	}
	if err != nil {
		return err
	}
	groups, err := s.r.length()
	for ; err == nil && groups > 0; groups-- {
		err = s.group()
	}
	return err
}

// streamReader reads a stream.
type streamReader struct {
	r       *reader
	typ     byte
	left    int // bytes that the items of entries may still have
	entries uint64
	to      StreamVisitor
}

// node reads a node of the tree of entries: the ID that those of the entries are counted from, and a listpack.
func (s *streamReader) node() error {
	key, err := s.r.string()
	if err != nil {
		return err
	}
	if len(key) != streamIDSize {
		return fmt.Errorf("%w: an ID of %d bytes", ErrFormat, len(key))
	}
	n := streamNode{streamReader: s, master: StreamID{binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[8:])}}
	packed, err := s.r.string()
	if err != nil {
		return err
	}
	if n.items, err = itemsOf(packed); err != nil {
		return err
	}
	return n.read()
}

// itemsOf returns what reads the items of a listpack.
func itemsOf(packed []byte) (*reader, error) {
	const header = 6
	if len(packed) < header+1 || uint64(binary.LittleEndian.Uint32(packed)) != uint64(len(packed)) || packed[len(packed)-1] != packedEnd {
		return nil, fmt.Errorf("%w: header or end of a listpack", ErrFormat)
	}
	return &reader{data: packed[header : len(packed)-1]}, nil
}

// streamNode is a node: how many entries it has, how many of them are deleted, the names of the fields that most of them have, and a zero; then the entries.
type streamNode struct {
	*streamReader
	master StreamID
	items  *reader
	names  int
	named  []byte // the names, each an item of a listpack
}

func (n *streamNode) read() error {
	var head [3]uint64
	for i := range head {
		var err error
		if head[i], err = n.number(); err != nil {
			return err
		}
	}
	if head[2] > uint64(len(n.items.data)) {
		return fmt.Errorf("%w: %d fields, and %d bytes are left", ErrFormat, head[2], len(n.items.data))
	}
	n.names = int(head[2])
	before := n.items.data
	for range n.names {
		if _, err := listpackItem(n.items); err != nil {
			return err
		}
	}
	n.named = before[:len(before)-len(n.items.data)]
	if _, err := n.number(); err != nil {
		return err
	}
	live, deleted := uint64(0), uint64(0)
	for len(n.items.data) > 0 {
		gone, err := n.entry()
		switch {
		case err != nil:
			return err
		case gone:
			deleted++
		default:
			live++
		}
	}
	if live != head[0] || deleted != head[1] {
		return fmt.Errorf("%w: %d entries and %d deleted ones instead of %d and %d", ErrFormat, live, deleted, head[0], head[1])
	}
	n.entries += live
	return nil
}

// number reads an item that is a number. A negative one is that of 64 bits without a sign.
func (n *streamNode) number() (uint64, error) {
	item, err := listpackItem(n.items)
	if err != nil {
		return 0, err
	}
	number, ok := resp.ParseInt(item)
	if !ok {
		return 0, fmt.Errorf("%w: an item of a stream that is no number", ErrFormat)
	}
	return uint64(number), nil
}

// entry reads an entry, and reports whether it is deleted.
func (n *streamNode) entry() (deleted bool, err error) {
	var head [3]uint64
	for i := range head {
		if head[i], err = n.number(); err != nil {
			return false, err
		}
	}
	flags, id := head[0], StreamID{n.master.Ms + head[1], n.master.Seq + head[2]}
	deleted = flags&entryDeleted != 0
	fields, names := uint64(n.names), (*reader)(nil)
	if flags&entrySameNames != 0 {
		names = &reader{data: n.named}
	} else if fields, err = n.number(); err != nil {
		return false, err
	}
	if fields > uint64(len(n.items.data)) || fields == 0 && !deleted {
		return false, fmt.Errorf("%w: an entry of %d fields", ErrFormat, fields)
	}
	if !deleted {
		err = n.to.Entry(id, 2*int(fields))
	}
	for ; err == nil && fields > 0; fields-- {
		from := names
		if from == nil {
			from = n.items
		}
		if err = n.item(from, deleted); err == nil {
			err = n.item(n.items, deleted)
		}
	}
	if err == nil {
		_, err = n.number() // of how many items it is
	}
	return deleted, err
}

// item reads a field or a value.
func (n *streamNode) item(from *reader, deleted bool) error {
	item, err := listpackItem(from)
	if err != nil || deleted {
		return err
	}
	if n.left -= len(item) + 1; n.left < 0 {
		return ErrTooLong
	}
	return n.to.Item(item)
}

// some reads numbers that are written as lengths.
func (s *streamReader) some(to ...*uint64) error {
	for _, n := range to {
		number, isEncoding, err := s.r.head()
		if err == nil && isEncoding {
			err = fmt.Errorf("%w: an encoding instead of a number", ErrFormat)
		}
		if err != nil {
			return err
		}
		*n = number
	}
	return nil
}

// counters reads the counters: before Redis 7.0 there were fewer.
func (s *streamReader) counters() error {
	var c StreamCounters
	var length uint64
	var first StreamID
	err := s.some(&length, &c.Last.Ms, &c.Last.Seq)
	if c.Added = length; err == nil && s.typ >= typeStream2 {
		err = s.some(&first.Ms, &first.Seq, &c.Deleted.Ms, &c.Deleted.Seq, &c.Added)
	}
	if err == nil && length != s.entries {
		err = fmt.Errorf("%w: %d entries instead of %d", ErrFormat, s.entries, length)
	}
	if err != nil {
		return err
	}
	return s.to.Counters(c)
}

// group reads a group, what is pending in it, and its consumers.
func (s *streamReader) group() error {
	name, err := s.r.string()
	if err != nil {
		return err
	}
	name = append([]byte(nil), name...)
	var last StreamID
	read := uint64(NotWritten)
	if err = s.some(&last.Ms, &last.Seq); err == nil && s.typ >= typeStream2 {
		err = s.some(&read)
	}
	if err == nil {
		err = s.to.Group(name, last, read)
	}
	if err != nil {
		return err
	}
	pending, err := s.r.length()
	for ; err == nil && pending > 0; pending-- {
		err = s.pending()
	}
	if err != nil {
		return err
	}
	consumers, err := s.r.length()
	for ; err == nil && consumers > 0; consumers-- {
		err = s.consumer()
	}
	return err
}

func (s *streamReader) id() (id StreamID, err error) {
	b, err := s.r.take(streamIDSize)
	if err != nil {
		return id, err
	}
	return StreamID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, nil
}

// time reads a time in milliseconds.
func (s *streamReader) time() (int64, error) {
	b, err := s.r.take(8)
	if err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(b)), nil
}

func (s *streamReader) pending() error {
	id, err := s.id()
	if err != nil {
		return err
	}
	delivered, err := s.time()
	if err != nil {
		return err
	}
	var times uint64
	if err = s.some(&times); err != nil {
		return err
	}
	return s.to.Pending(id, delivered, times)
}

func (s *streamReader) consumer() error {
	name, err := s.r.string()
	if err != nil {
		return err
	}
	seen, err := s.time()
	if err == nil && s.typ >= typeStream3 {
		_, err = s.time() // when it was last given something
	}
	if err == nil {
		err = s.to.Consumer(name, seen)
	}
	if err != nil {
		return err
	}
	owned, err := s.r.length()
	for ; err == nil && owned > 0; owned-- {
		var id StreamID
		if id, err = s.id(); err == nil {
			err = s.to.Owned(id)
		}
	}
	return err
}

// streamItems is a visitor that makes items of all: see Value.Each.
type streamItems struct{ item visitor }

func (s streamItems) tell(kind byte, text []byte, numbers ...uint64) error {
	item := []byte{kind}
	for _, n := range numbers {
		item = binary.BigEndian.AppendUint64(item, n)
	}
	return s.item(append(item, text...))
}

func (s streamItems) Entry(id StreamID, items int) error {
	return s.tell('e', nil, id.Ms, id.Seq, uint64(items))
}

func (s streamItems) Item(item []byte) error { return s.item(item) }

func (s streamItems) Counters(c StreamCounters) error {
	return s.tell('s', nil, c.Last.Ms, c.Last.Seq, c.Deleted.Ms, c.Deleted.Seq, c.Added)
}

func (s streamItems) Group(name []byte, last StreamID, read uint64) error {
	return s.tell('g', name, last.Ms, last.Seq, read)
}

func (s streamItems) Pending(id StreamID, delivered int64, times uint64) error {
	return s.tell('p', nil, id.Ms, id.Seq, uint64(delivered), times)
}

func (s streamItems) Consumer(name []byte, seen int64) error {
	return s.tell('c', name, uint64(seen))
}

func (s streamItems) Owned(id StreamID) error { return s.tell('o', nil, id.Ms, id.Seq) }
