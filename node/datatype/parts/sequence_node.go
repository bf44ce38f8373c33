package parts

// What follows are the ways through the nodes of a Sequence: by rank.

// ranked returns the node below this one that has an element, and the rank of the element there.
func (n *node) ranked(rank int) (*node, int) {
	i := 0
	for ; rank >= int(n.kids[i].low); i++ {
		rank -= int(n.kids[i].low)
	}
	return n.kids[i].node, rank
}

// element returns the element of a rank.
func (n *node) element(rank int) []byte {
	n = n.here()
	for n.kids != nil {
		var kid *node
		kid, rank = n.ranked(rank)
		n = n.near(kid).here()
	}
	element, _, _ := Lengthened(n.packed, n.offset(rank))
	return element
}

// offset returns where in a part the element of a rank begins, or the end of the part.
func (n *node) offset(rank int) (at int) {
	if rank == n.count {
		return len(n.packed)
	}
	for range rank {
		_, at, _ = Lengthened(n.packed, at)
	}
	return at
}

// bounds returns where in a part the elements from one rank up to, but without, another begin and end.
func (n *node) bounds(from, to int) (start, end int) {
	start = n.offset(from)
	if end = start; to > from {
		rest := node{packed: n.packed[start:], count: n.count - from}
		end += rest.offset(to - from)
	}
	return start, end
}

// spliced returns which node below this one is the first that changes if the elements from one rank up to, but without, another are replaced, and the rank that it begins at.
func (n *node) spliced(from, to int) (i, at int) {
	for end := int(n.kids[0].low); from > end || from == end && from < to; end += int(n.kids[i].low) {
		i, at = i+1, end
	}
	return i, at
}

// first returns the first element.
func (n *node) first() []byte {
	n = n.here()
	for n.kids != nil {
		n = n.kids[0].node.here()
	}
	element, _, _ := Lengthened(n.packed, 0)
	return element
}

// forward visits the elements from a rank on, which is one of the node, and reports whether visit did not stop it.
func (n *node) forward(rank int, visit func([]byte) bool) bool {
	n = n.passing()
	if n.kids == nil {
		for at := n.offset(rank); at < len(n.packed); {
			element, end, _ := Lengthened(n.packed, at)
			if !visit(element) {
				return false
			}
			at = end
		}
		return true
	}
	for _, k := range n.kids {
		if rank >= int(k.low) {
			rank -= int(k.low)
			continue
		}
		if !k.node.forward(rank, visit) {
			return false
		}
		rank = 0
	}
	return true
}

// backward visits the elements from a rank down to the first one of the node, and reports whether visit did not stop it.
func (n *node) backward(rank int, visit func([]byte) bool) bool {
	n = n.passing()
	if n.kids == nil {
		ends := elements(n.packed)
		for i := rank; i >= 0; i-- {
			element, _, _ := Lengthened(n.packed, begin(ends, i))
			if !visit(element) {
				return false
			}
		}
		return true
	}
	end := n.count // of the node below, counted in this one
	for i := len(n.kids) - 1; i >= 0; i-- {
		k := n.kids[i]
		end -= int(k.low)
		if rank >= end && !k.node.backward(min(rank-end, int(k.low)-1), visit) {
			return false
		}
	}
	return true
}

// elements returns where each element of packed ones ends, and begin where one begins.
func elements(packed []byte) (ends []int) {
	for at := 0; at < len(packed); {
		_, at, _ = Lengthened(packed, at)
		ends = append(ends, at)
	}
	return ends
}

func begin(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}
