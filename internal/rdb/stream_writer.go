package rdb

import (
	"encoding/binary"
	"iter"
	"strconv"
)

// How many entries Redis has in a node of its tree by default (stream-node-max-entries), and in how many bytes (stream-node-max-bytes).
const (
	nodeEntries = 100
	nodeBytes   = 4096
)

// StreamWriter writes a stream as a payload: what is to be written is given in the order in which a StreamVisitor is told it, each with how many there are of what follows.
type StreamWriter struct {
	nodes   []byte // that are finished
	number  int    // of them
	entries int

	// The node that is being written: what its IDs are counted from, the names of its fields, and its entries.
	master StreamID
	names  [][]byte
	packed []byte
	here   int

	payload []byte
}

// Entry writes an entry, with its fields, each followed by its value. They are borrowed.
func (w *StreamWriter) Entry(id StreamID, pieces iter.Seq[[]byte]) {
	var items [][]byte
	size := 0
	for piece := range pieces {
		items = append(items, piece)
		size += len(piece)
	}
	if w.here > 0 && (w.here >= nodeEntries || len(w.packed)+size >= nodeBytes) {
		w.finishNode()
	}
	if w.here == 0 {
		w.master, w.names = id, w.names[:0]
		for i := 0; i < len(items); i += 2 {
			w.names = append(w.names, append([]byte(nil), items[i]...))
		}
	}
	flags, count := int64(0), int64(4+len(items))
	same := w.sameNames(items)
	if same {
		flags, count = entrySameNames, int64(3+len(items)/2)
	}
	p := appendPackedNumber(w.packed, flags)
	p = appendPackedNumber(p, int64(id.Ms-w.master.Ms))
	p = appendPackedNumber(p, int64(id.Seq-w.master.Seq))
	if !same {
		p = appendPackedNumber(p, int64(len(items)/2))
	}
	for i, item := range items {
		if !same || i%2 != 0 {
			p = appendPacked(p, item)
		}
	}
	w.packed = appendPackedNumber(p, count)
	w.here++
	w.entries++
}

func (w *StreamWriter) sameNames(items [][]byte) bool {
	if len(items) != 2*len(w.names) {
		return false
	}
	for i, name := range w.names {
		if string(items[2*i]) != string(name) {
			return false
		}
	}
	return true
}

// finishNode ends a node.
func (w *StreamWriter) finishNode() {
	if w.here == 0 {
		return
	}
	const header = 6
	p := make([]byte, header, header+len(w.packed)+64)
	p = appendPackedNumber(p, int64(w.here))
	p = appendPackedNumber(p, 0)
	p = appendPackedNumber(p, int64(len(w.names)))
	for _, name := range w.names {
		p = appendPacked(p, name)
	}
	p = appendPackedNumber(p, 0)
	p = append(append(p, w.packed...), packedEnd)
	binary.LittleEndian.PutUint32(p, uint32(len(p)))
	binary.LittleEndian.PutUint16(p[4:], countedItems(p[header:len(p)-1]))

	w.nodes = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(append(w.nodes, streamIDSize), w.master.Ms), w.master.Seq)
	w.nodes = append(appendLength(w.nodes, len(p)), p...)
	w.number++
	w.packed, w.here = w.packed[:0], 0
}

// countedItems returns how many items there are as a listpack says it.
func countedItems(items []byte) uint16 {
	const many = 0xffff
	n, r := 0, &reader{data: items}
	for len(r.data) > 0 && n < many {
		if _, err := listpackItem(r); err != nil {
			break
		}
		n++
	}
	return uint16(n)
}

// Counters writes the counters, when all entries are written, of which the first one has an ID, and how many groups follow.
func (w *StreamWriter) Counters(c StreamCounters, first StreamID, groups int) {
	w.finishNode()
	w.payload = append(appendLength(append(w.payload, typeStream2), w.number), w.nodes...)
	w.nodes = nil
	w.lengths(uint64(w.entries), c.Last.Ms, c.Last.Seq, first.Ms, first.Seq, c.Deleted.Ms, c.Deleted.Seq, c.Added, uint64(groups))
}

// Group writes a group, and how many entries are pending in it.
func (w *StreamWriter) Group(name []byte, last StreamID, read uint64, pending int) {
	w.payload = AppendItem(w.payload, name)
	w.lengths(last.Ms, last.Seq, read, uint64(pending))
}

// Pending writes an entry that is pending in the group.
func (w *StreamWriter) Pending(id StreamID, delivered int64, times uint64) {
	w.id(id)
	w.payload = binary.LittleEndian.AppendUint64(w.payload, uint64(delivered))
	w.lengths(times)
}

// Consumers writes how many consumers the group has.
func (w *StreamWriter) Consumers(n int) { w.lengths(uint64(n)) }

// Consumer writes a consumer of the group, and how many entries are its own.
func (w *StreamWriter) Consumer(name []byte, seen int64, owned int) {
	w.payload = binary.LittleEndian.AppendUint64(AppendItem(w.payload, name), uint64(seen))
	w.lengths(uint64(owned))
}

// Owned writes that an entry is the consumer's.
func (w *StreamWriter) Owned(id StreamID) { w.id(id) }

// Payload returns the payload without its end: see Seal.
func (w *StreamWriter) Payload() []byte { return w.payload }

// Size is about how many bytes have been written.
func (w *StreamWriter) Size() int { return len(w.nodes) + len(w.packed) + len(w.payload) }

func (w *StreamWriter) id(id StreamID) {
	w.payload = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(w.payload, id.Ms), id.Seq)
}

func (w *StreamWriter) lengths(numbers ...uint64) {
	for _, n := range numbers {
		if n > 1<<62 {
			w.payload = binary.BigEndian.AppendUint64(append(w.payload, length64), n)
			continue
		}
		w.payload = appendLength(w.payload, int(n))
	}
}

// appendPacked appends an item of a listpack, as a number if it is one.
func appendPacked(dst, item []byte) []byte {
	const longest = len("-9223372036854775808")
	if len(item) <= longest {
		if n, err := strconv.ParseInt(string(item), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(item) {
			return appendPackedNumber(dst, n)
		}
	}
	start := len(dst)
	switch n := len(item); {
	case n < 1<<6:
		dst = append(dst, 0x80|byte(n))
	case n < 1<<12:
		dst = append(dst, 0xe0|byte(n>>8), byte(n))
	default:
		dst = binary.LittleEndian.AppendUint32(append(dst, 0xf0), uint32(n))
	}
	dst = append(dst, item...)
	return appendBack(dst, len(dst)-start)
}

func appendPackedNumber(dst []byte, n int64) []byte {
	start := len(dst)
	switch {
	case n >= 0 && n < 1<<7:
		dst = append(dst, byte(n))
	case n >= -1<<12 && n < 1<<12:
		dst = append(dst, 0xc0|byte(n>>8)&0x1f, byte(n))
	case n == int64(int16(n)):
		dst = binary.LittleEndian.AppendUint16(append(dst, 0xf1), uint16(n))
	case n >= -1<<23 && n < 1<<23:
		dst = append(dst, 0xf2, byte(n), byte(n>>8), byte(n>>16))
	case n == int64(int32(n)):
		dst = binary.LittleEndian.AppendUint32(append(dst, 0xf3), uint32(n))
	default:
		dst = binary.LittleEndian.AppendUint64(append(dst, 0xf4), uint64(n))
	}
	return appendBack(dst, len(dst)-start)
}

// appendBack appends how long the item before is.
func appendBack(dst []byte, n int) []byte {
	size := backSize(n)
	for i := size - 1; i >= 0; i-- {
		b := byte(n>>(7*i)) & 0x7f
		if i < size-1 {
			b |= 0x80
		}
		dst = append(dst, b)
	}
	return dst
}
