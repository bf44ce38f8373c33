package parts

import (
	"slices"

	"github.com/quolldb/quoll/internal/buffer"
)

// splice is a change of a Sequence on its way from the root to the parts, and back. What is between the two ends of the range that is replaced is not
// looked at, if it is in memory.
type splice struct {
	run    uint64   // nodes of this run are changed in place, and made
	with   [][]byte // is put where the range begins, and nil after that
	unread bool     // not all of the sequence is in memory
	// Elements are mostly added at the ends. What is divided then is full but for the node at this end.
	atFront, atEnd bool
	// items and bytes are how many there are more then, if it changes a single part: see within.
	items, bytes int
	// taken are the elements that are replaced, packed, if keeps is set.
	keeps bool
	taken []byte
	// out are the nodes that are there after the change: those that a level has made are behind those of the levels above it.
	out []child
}

// counted is a node below another one of a Sequence.
func counted(n *node) child { return child{uint64(n.count), n} }

// root returns the root of what the sequence becomes, nil if it is empty.
func (p *splice) root(n *node, from, to int) *node {
	if n == nil {
		n = &node{} // a part without elements
	}
	if changed := p.within(n, from, to); changed != nil {
		return changed
	}
	if p.keeps {
		p.taken = n.packedRange(from, to)
	}
	p.node(n, from, to)
	for len(p.out) > 1 {
		p.above(0)
	}
	if len(p.out) == 0 {
		return nil
	}
	n = p.out[0].node
	for len(n.kids) == 1 {
		n = n.kids[0].node
	}
	return n
}

// node puts out the nodes, of the same level, that a node becomes.
func (p *splice) node(n *node, from, to int) {
	if from == 0 && to == n.count && len(p.with) == 0 {
		if p.unread {
			n.readAll() // for the versions before, see unread
		}
		return
	}
	n = n.here()
	if n.kids == nil {
		p.leaf(n, from, to)
		return
	}
	i, at := n.spliced(from, to)
	mark, next, was := len(p.out), i, n.kids[i].node.size
	for ; next == i || next < len(n.kids) && at < to; next++ {
		k := n.kids[next]
		p.node(k.node, max(from-at, 0), min(to-at, int(k.low)))
		at += int(k.low)
	}
	if next == i+1 && len(p.out) == mark+1 && !p.out[mark].node.small() {
		p.out[mark] = counted(p.withKid(n, i, p.out[mark], was))
		return
	}
	p.out = slices.Insert(p.out, mark, n.kids[:i]...)
	first, last := mark+i, len(p.out)
	p.out = append(p.out, n.kids[next:]...)
	p.join(mark, first, last)
	if !p.into(n, mark) {
		p.above(mark)
	}
}

// into puts the nodes that are out above mark below a node of the run that they were below, if there is room, and that out in their place.
func (p *splice) into(n *node, mark int) bool {
	kids := p.out[mark:]
	if n.run != p.run || len(kids) == 0 || len(kids) > min(cap(n.kids), most(kids)) {
		return false
	}
	clear(n.kids)
	n.kids = append(n.kids[:0], kids...)
	n.weigh()
	p.out = append(p.out[:mark], counted(n))
	return true
}

// withKid returns a node with another one below it, or what was one of so many bytes and has been changed in place, in the place of one. It looks at no other node below: those
// are elsewhere in memory.
func (p *splice) withKid(n *node, i int, kid child, was int) *node {
	n = p.own(n)
	n.count += kid.node.count - int(n.kids[i].low)
	n.size += kid.node.size - was
	n.kids[i] = kid
	return n
}

// own returns a node that is no part, or a copy of it if it is not of the run.
func (p *splice) own(n *node) *node {
	if n.run == p.run {
		return n
	}
	own := innerOf(n.kids)
	own.count, own.size, own.run = n.count, n.size, p.run
	return own
}

// leaf is node for a part.
func (p *splice) leaf(n *node, from, to int) {
	start, end := n.bounds(from, to)
	with := p.with
	p.with = nil
	size := len(n.packed) - (end - start)
	for _, element := range with {
		size += LengthenedSize(len(element))
	}
	if size == 0 {
		return
	}
	count := n.count - (to - from) + len(with)
	switch whole := size <= partSize || count == 1; {
	case !whole && start == end && end == len(n.packed) && p.atEnd && !n.small(): // it stays as it is
		p.out = append(p.out, counted(n))
		p.put(nil, with, nil, size-len(n.packed), len(with))
	case !whole && end == 0 && p.atFront && !p.atEnd && !n.small():
		p.put(nil, with, nil, size-len(n.packed), len(with))
		p.out = append(p.out, counted(n))
	default:
		p.put(n.packed[:start], with, n.packed[end:], size, count)
	}
}

// put puts out parts with what was before some elements, these, and what was behind them, so many bytes and elements.
func (p *splice) put(before []byte, with [][]byte, behind []byte, size, count int) {
	n := leafOf(size)
	n.run, n.count = p.run, count
	packed := buffer.Append(n.packed[:0], before)
	for _, element := range with {
		packed = AppendLengthened(packed, element)
	}
	buffer.Append(packed, behind)
	if size <= partSize || count == 1 {
		p.out = append(p.out, counted(n))
		return
	}
	p.cut(n.packed)
}

// cut puts out parts with these elements: none is longer than partSize but one with a single element.
func (p *splice) cut(packed []byte) {
	ends, mark := elements(packed), len(p.out)
	put := func(i, j int) {
		leaf := newLeaf(packed[begin(ends, i):ends[j-1]], j-i)
		leaf.run = p.run
		p.out = append(p.out, counted(leaf))
	}
	size := func(i, j int) int { return ends[j-1] - begin(ends, i) }
	if p.atFront && !p.atEnd { // from behind
		j := len(ends)
		for i := j - 1; i >= 0; i-- {
			if i+1 < j && size(i, j) > partSize {
				put(i+1, j)
				j = i + 1
			}
		}
		put(0, j)
		slices.Reverse(p.out[mark:])
		return
	}
	most := partSize
	if !p.atEnd {
		most = even(len(packed), fullPart)
	}
	i := 0
	for j := range ends {
		if i < j && (size(i, j+1) > partSize || size(i, j) >= most) {
			put(i, j)
			i = j
		}
	}
	put(i, len(ends))
}

// even returns how much each has if n is divided among as few as possible that have most at most.
func even(n, most int) int {
	pieces := (n + most - 1) / most
	return (n + pieces - 1) / pieces
}

// join joins the nodes out[first:last] that are small with a neighbour, of those that are above mark.
func (p *splice) join(mark, first, last int) {
	for i := first; i < last && len(p.out)-mark > 1; i++ {
		if !p.out[i].node.small() {
			continue
		}
		left := min(i, len(p.out)-2)
		both := together(p.out[left].node, p.out[left+1].node)
		if both == nil {
			continue
		}
		p.out[left] = counted(both)
		p.out = slices.Delete(p.out, left+1, left+2)
		i, last = left-1, min(max(last-1, left+1), len(p.out)) // it may still be small
	}
}

// above puts nodes above those that are out above mark, in their place.
func (p *splice) above(mark int) {
	n := len(p.out) - mark
	if n == 0 {
		return
	}
	most := most(p.out[mark:])
	size, first := most, most
	switch {
	case n <= most:
	case p.atEnd:
	case p.atFront:
		first = (n-1)%most + 1
	default:
		size = even(n, most)
		first = size
	}
	kids := p.out[mark:]
	p.out = p.out[:mark]
	for len(kids) > 0 { // which are overwritten, but not before they have been taken
		some := kids[:min(first, len(kids))]
		inner := newInner(some)
		inner.run = p.run
		p.out = append(p.out, counted(inner))
		kids, first = kids[len(some):], size
	}
}
