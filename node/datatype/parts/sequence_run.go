package parts

import "bytes"

// What follows is how a Sequence has its run: as a Map, but for what undoes a change, which is another splice.

// spliceUndo puts elements in the place of those from one rank up to, but without, another.
type spliceUndo struct {
	from, to int
	packed   []byte
	count    int         // of the elements that are packed
	earlier  *spliceUndo // is done after it: see Edit
}

// undoes returns what undoes a splice that put so many elements in the place of those from one rank up to, but without, another, which it has taken.
func (r *run) undoes(from, to, with int, taken []byte) spliceUndo {
	r.undone += len(taken) + undoMemory
	return spliceUndo{from: from, to: from + with, packed: taken, count: to - from}
}

// mostUndone is how many elements a change in place removes at most: they are kept.
const mostUndone = 128

// changesInPlace reports whether a change that removes some elements may overwrite nodes of the run. What is not read yet may not be there any more when the change is undone, so
// a sequence of which not all is in memory is copied where it is changed.
func (s *Sequence) changesInPlace(removes int) bool {
	return s.run != nil && !s.frozen && s.next == nil && s.root != nil && (s.origin == nil || s.origin.all) &&
		removes <= mostUndone && s.run.undone < max(leastRun, undoFactor*s.size)
}

// current returns the root of this version, which may be changed when the lock of the run, which the caller has, is given up.
func (s *Sequence) current() *node {
	if s.next != nil {
		return s.freeze()
	}
	return s.root
}

// frozenRoot returns the root, of which nothing is changed any more; nil if the sequence is empty.
func (s *Sequence) frozenRoot() *node {
	if s.run != nil {
		s.run.Lock()
		defer s.run.Unlock()
	}
	return s.freeze()
}

// freeze is frozenRoot, the run being locked. See Map.freeze.
func (s *Sequence) freeze() *node {
	var undone []spliceUndo
	latest := s
	for ; latest.next != nil; latest = latest.next {
		undone = append(undone, latest.undo)
	}
	if latest.run != nil {
		latest.frozen = true
	}
	if latest == s {
		return s.root
	}
	root, number := latest.root, runs.Add(1)
	for i := len(undone) - 1; i >= 0; i-- {
		for u := &undone[i]; u != nil; u = u.earlier {
			p := splice{run: number, with: u.elements()}
			root = p.root(root, u.from, u.to)
		}
	}
	s.root, s.frozen, s.next, s.undo = root, true, nil, spliceUndo{}
	return root
}

// elements returns the elements that are packed.
func (u *spliceUndo) elements() [][]byte {
	list := make([][]byte, 0, u.count)
	for at := 0; at < len(u.packed); {
		var element []byte
		element, at, _ = Lengthened(u.packed, at)
		list = append(list, element)
	}
	return list
}

// packedRange returns a copy of the elements from one rank up to, but without, another.
func (n *node) packedRange(from, to int) (packed []byte) {
	left := to - from
	if left > 0 {
		n.forward(from, func(element []byte) bool {
			packed = AppendLengthened(packed, element)
			left--
			return left > 0
		})
	}
	return packed
}

// within returns what a node becomes if the change is one of a single part that stays a part, and large enough: the same node, or, if another run made that, another one.
// Else it returns nil, and nothing is changed.
func (p *splice) within(n *node, from, to int) *node {
	n = n.here()
	if n.kids == nil {
		return p.overwrite(n, from, to)
	}
	i, at := n.spliced(from, to)
	kid := n.kids[i]
	if to > at+int(kid.low) {
		return nil
	}
	changed := p.within(n.near(kid.node), from-at, to-at)
	if changed == nil {
		return nil
	}
	n = p.own(n)
	n.count += p.items
	n.size += p.bytes
	if at := &n.kids[i]; at.node != changed {
		*at = counted(changed)
	} else {
		at.low = uint64(changed.count)
	}
	return n
}

// roomFor returns how many bytes a part gets that grows to so many. One at the end grows until it is full, mostly.
func (p *splice) roomFor(size int) int {
	const some = partSize / 4
	if p.atEnd {
		return min(2*size, partSize)
	}
	return min(size+some, partSize)
}

// overwrite is within for a part.
func (p *splice) overwrite(n *node, from, to int) *node {
	start, end := n.bounds(from, to)
	p.items, p.bytes = len(p.with)-(to-from), start-end
	for _, element := range p.with {
		p.bytes += LengthenedSize(len(element))
	}
	size := len(n.packed) + p.bytes
	if size == 0 || size > partSize || p.bytes < 0 && size < partSize/sparse {
		return nil
	}
	packed, count := n.packed, n.count
	if p.keeps && start < end {
		p.taken = bytes.Clone(packed[start:end])
	}
	if n.run == p.run && size <= cap(packed) {
		packed = spoilt(n)
		n.packed = packed[:size]
	} else {
		room := size
		if n.run == p.run { // it grows
			room = p.roomFor(size)
		}
		n = leafOf(room)
		n.run, n.packed = p.run, n.packed[:size]
		copy(n.packed, packed[:start])
	}
	copy(n.packed[end+p.bytes:], packed[end:])
	put := n.packed[:start]
	for _, element := range p.with {
		put = AppendLengthened(put, element)
	}
	n.count, n.size = count+p.items, size
	return n
}
