package parts

import (
	"bytes"
	"encoding/binary"
	"io"
	"iter"
	"sort"

	"github.com/quolldb/quoll/internal/buffer"
)

// Sequence is a list of elements, which are bytes, and never changes: Splice makes another one, which shares most of the memory, or takes it over (see
// run). The zero Sequence is empty. It may be used by anybody at any time; elements are not to be changed, and what At returns is borrowed. Ranks are counted from 0.
//
// It is a B+tree of the nodes that a Map has, with the number of elements below a node in the place of the position: see child. All methods but Len, Size,
// Memory, Root and Source may panic with record.Unreadable if parts of it are in a store, and Reader's Read returns that as an error.
type Sequence struct {
	count, size int // of the elements, and of them packed
	// What follows is as in a Map.
	run    *run
	root   *node // nil if the sequence is empty, or next is not nil
	frozen bool
	next   *Sequence
	undo   spliceUndo
	origin *origin
}

// newSequence returns the sequence with a root that is never changed, or none.
func newSequence(root *node) *Sequence {
	s := new(Sequence)
	s.holds(root)
	return s
}

// Len returns the number of elements.
func (s *Sequence) Len() int { return s.count }

// Size returns the length of the packed form in bytes: how many elements there are, then each with its length before it.
func (s *Sequence) Size() int { return UvarintSize(s.count) + s.size }

// Memory returns about how many bytes of memory the sequence takes. See Map.Memory.
func (s *Sequence) Memory() int { return memoryOf(s.Size(), s.origin) }

// AppendTo appends the packed form.
func (s *Sequence) AppendTo(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.count))
	if root := s.frozenRoot(); root != nil {
		root.leaves(func(part []byte) bool {
			dst = buffer.Append(dst, part)
			return true
		})
	}
	return dst
}

// Reader reads the packed form, from its beginning to io.EOF. It takes no memory that depends on the sequence.
func (s *Sequence) Reader() io.Reader { return newReader(s.count, s.frozenRoot()) }

// At returns the element of a rank, from 0 to Len-1. It is good until Splice is called for this version of the sequence, or one made of it.
func (s *Sequence) At(rank int) []byte {
	if s.run != nil {
		s.run.Lock()
		defer s.run.Unlock()
	}
	return s.current().element(rank)
}

// From goes through the elements from a rank on.
func (s *Sequence) From(rank int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if rank < s.count {
			s.frozenRoot().forward(max(rank, 0), yield)
		}
	}
}

// Back goes through the elements from a rank down to the first one.
func (s *Sequence) Back(rank int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if rank >= 0 && s.count > 0 {
			s.frozenRoot().backward(min(rank, s.count-1), yield)
		}
	}
}

// Search returns the rank of the first element that is not before what is searched, or Len: of elements that are in order, as sort.Search. Before only
// looks at the element, which it is lent.
func (s *Sequence) Search(before func(element []byte) bool) (rank int) {
	rank, _ = s.find(before)
	return rank
}

// SearchKey is Search for elements that begin with a key, which has its length before it, and are in the order of their keys: for the first whose key is not before one. It returns that element, too,
// lent as by At, or nil.
func (s *Sequence) SearchKey(key []byte) (rank int, element []byte) {
	return s.find(func(element []byte) bool {
		its, _, _ := Lengthened(element, 0)
		return bytes.Compare(its, key) < 0
	})
}

// find is Search, and returns the element, too.
func (s *Sequence) find(before func(element []byte) bool) (rank int, element []byte) {
	if s.run != nil {
		s.run.Lock()
		defer s.run.Unlock()
	}
	root := s.current()
	if root == nil {
		return 0, nil
	}
	n := root.here()
	for n.kids != nil {
		at := sort.Search(len(n.kids)-1, func(i int) bool { return !before(n.kids[i+1].node.first()) })
		for _, k := range n.kids[:at] {
			rank += int(k.low)
		}
		n = n.near(n.kids[at].node).here()
	}
	for at := 0; at < len(n.packed); rank++ {
		element, end, _ := Lengthened(n.packed, at)
		if !before(element) {
			return rank, element
		}
		at = end
	}
	if rank == s.count {
		return rank, nil
	}
	return rank, root.element(rank)
}

// Splice returns a sequence with other elements, which are copied, in the place of those from one rank up to, but without, another. So it inserts, appends,
// replaces and removes. It takes the time of the way to these ranks, and of what it adds; what
// it removes it reads if that is in a store. The other elements are not what At has lent of a version of this sequence.
func (s *Sequence) Splice(from, to int, with ...[]byte) *Sequence {
	if from == to && len(with) == 0 {
		return s
	}
	r, o := s.run, s.origin
	if r != nil {
		r.Lock()
		defer r.Unlock()
	}
	p := splice{with: with, unread: o != nil && !o.all, atEnd: from == s.count, atFront: to == 0}
	next := new(Sequence)
	if s.changesInPlace(to - from) {
		p.run, p.keeps = r.number, true
		next.holds(p.root(s.root, from, to))
		next.origin, next.run = o, r
		s.root, s.next, s.undo = nil, next, r.undoes(from, to, len(with), p.taken)
		return next
	}
	r = newRun()
	p.run = r.number
	next.holds(p.root(s.freeze(), from, to))
	if p.unread && next.root != nil && o.from.Whole(next.size) {
		next.root.readAll()
		o = &origin{o.from, o.size, true}
	}
	next.origin, next.run = o, r
	return next
}

// holds gives a sequence its root, or none.
func (s *Sequence) holds(root *node) {
	if s.root = root; root == nil {
		s.count, s.size = 0, 0
		return
	}
	s.count, s.size = root.count, root.size
}
