package parts

import (
	"bytes"
	"sort"
)

// SearchKey is Search for elements that begin with a key, which has its length before it, and are in the order of their keys: it returns the rank of the first element whose
// key is not before one, and that element, lent as by At; or Len, and nil.
func (s *Sequence) SearchKey(key []byte) (rank int, element []byte) {
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
		at := sort.Search(len(n.kids)-1, func(i int) bool { return compareKey(n.kids[i+1].node.first(), key) >= 0 })
		for _, k := range n.kids[:at] {
			rank += int(k.low)
		}
		n = n.near(n.kids[at].node).here()
	}
	for at := 0; at < len(n.packed); rank++ {
		element, end, _ := Lengthened(n.packed, at)
		if compareKey(element, key) >= 0 {
			return rank, element
		}
		at = end
	}
	if rank == s.count {
		return rank, nil
	}
	return rank, root.element(rank)
}

// compareKey compares the key that an element begins with to another one.
func compareKey(element, key []byte) int {
	its, _, _ := Lengthened(element, 0)
	return bytes.Compare(its, key)
}
