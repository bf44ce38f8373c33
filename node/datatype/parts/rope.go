package parts

import (
	"iter"
	"slices"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// Rope is an immutable string of bytes in parts. It may be read by anybody at any time. A change makes another Rope, with one new part for each
// that it touches and the few nodes above them. A string is overwritten and becomes longer, but nothing is inserted into it: so all parts but
// the last one have the same length, and which one has a byte follows from where that is.
type Rope struct {
	root   *segment
	height int // of the root: 0 for a part
	size   int
}

const (
	// ropePart is the length in bytes of all parts but the last one, which may be shorter. A change copies as much.
	ropePart = 2048
	// ropeFanout is how many nodes are below one, at most.
	ropeFanout = 32
)

// segment is a part of a Rope, or what is above some: all but the last one of these have what they have room for.
type segment struct {
	bytes  []byte     // of a part
	kids   []*segment // of what is no part
	stored record.Place
}

// room returns how many bytes a segment of a height has at most.
func room(height int) int {
	n := ropePart
	for range height {
		n *= ropeFanout
	}
	return n
}

// NewRope returns a rope of these bytes, which are copied.
func NewRope(value []byte) *Rope { return new(Rope).With(len(value), 0, value) }

// Size returns the length in bytes.
func (r *Rope) Size() int { return r.size }

// Memory returns about how many bytes of memory the rope takes.
func (r *Rope) Memory() int {
	const node = 96 // a segment and the pointer to it, rounded up
	return r.size + (r.size/ropePart+r.height+1)*node
}

// With returns a rope of at least so many bytes, in which data is at a place: what is new and not of data is zero. Data is copied.
func (r *Rope) With(size, at int, data []byte) *Rope {
	size = max(size, r.size, at+len(data))
	next := &Rope{root: r.root, height: r.height, size: size}
	for next.root != nil && room(next.height) < size {
		next.root = &segment{kids: []*segment{next.root}}
		next.height++
	}
	if next.root == nil {
		for room(next.height) < size {
			next.height++
		}
	}
	w := write{data: data, at: at}
	next.root = w.apply(next.root, next.height, r.size, size)
	return next
}

// write puts data at a place.
type write struct {
	data []byte
	at   int
}

// apply returns what a segment becomes that has old bytes, and is to have size. A nil one has none. Places are counted from where the segment begins.
func (w write) apply(s *segment, height, old, size int) *segment {
	if old == size && (w.at >= size || w.at+len(w.data) <= 0) {
		return s
	}
	if height == 0 {
		return w.part(s, size)
	}
	each := room(height - 1)
	kids := make([]*segment, (size+each-1)/each)
	if s != nil {
		copy(kids, s.kids)
	}
	for i := range kids {
		from := i * each
		below := write{w.data, w.at - from}
		kids[i] = below.apply(kids[i], height-1, within(old-from, each), within(size-from, each))
	}
	return &segment{kids: kids}
}

// within returns how many of n bytes are in a segment that has room for so many.
func within(n, room int) int { return min(max(n, 0), room) }

// part is apply for a part.
func (w write) part(s *segment, size int) *segment {
	bytes := make([]byte, size)
	if s != nil {
		copy(bytes, s.bytes)
	}
	from := max(w.at, 0)
	if skipped := from - w.at; from < size && skipped < len(w.data) {
		copy(bytes[from:], w.data[skipped:])
	}
	return &segment{bytes: bytes}
}

// AppendTo appends all bytes.
func (r *Rope) AppendTo(dst []byte) []byte { return r.AppendRange(dst, 0, r.size) }

// AppendRange appends the bytes of [from, to), of those that there are.
func (r *Rope) AppendRange(dst []byte, from, to int) []byte {
	dst = slices.Grow(dst, max(min(to, r.size)-from, 0))
	for _, piece := range r.Pieces(from, to) {
		dst = buffer.Append(dst, piece)
	}
	return dst
}

// Pieces goes through the bytes of [from, to), of those that there are, in pieces, and where these begin. They are not to be changed.
func (r *Rope) Pieces(from, to int) iter.Seq2[int, []byte] {
	return func(yield func(at int, piece []byte) bool) {
		if from, to := max(from, 0), min(to, r.size); from < to {
			r.root.pieces(r.height, 0, from, to, yield)
		}
	}
}

// pieces visits what a segment, which begins at a place, has of [from, to), and reports whether visit did not stop it.
func (s *segment) pieces(height, begin, from, to int, visit func(at int, piece []byte) bool) bool {
	if height == 0 {
		low, high := max(from-begin, 0), min(to-begin, len(s.bytes))
		return visit(begin+low, s.bytes[low:high:high])
	}
	each := room(height - 1)
	for i := max(from-begin, 0) / each; i < len(s.kids) && begin+i*each < to; i++ {
		if !s.kids[i].pieces(height-1, begin+i*each, from, to, visit) {
			return false
		}
	}
	return true
}
