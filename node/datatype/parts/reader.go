package parts

import (
	"encoding/binary"
	"io"

	"github.com/quolldb/quoll/internal/record"
)

// Reader reads the packed form, from its beginning to io.EOF: what AppendTo appends. It takes no memory that depends on the map.
func (m *Map) Reader() io.Reader { return newReader(m.Len(), m.frozenRoot()) }

func newReader(count int, root *node) *reader {
	r := &reader{rest: binary.AppendUvarint(nil, uint64(count))}
	if root != nil {
		r.path = append(r.path, step{node: &node{kids: []child{{0, root}}}}) // which is read when it is its turn
	}
	return r
}

// reader goes through the parts of a map or a sequence.
type reader struct {
	rest []byte // of the part that is being read
	path []step // from the root to where it goes on
}

// step is a node, and which of its children is next.
type step struct {
	node *node
	next int
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (n int, err error) {
	defer record.Catch(&err)
	for n < len(p) {
		if len(r.rest) == 0 && !r.advance() {
			break
		}
		copied := copy(p[n:], r.rest)
		n, r.rest = n+copied, r.rest[copied:]
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// advance goes to the next part, and reports whether there is one.
func (r *reader) advance() bool {
	for len(r.path) > 0 {
		last := &r.path[len(r.path)-1]
		switch {
		case last.node.kids == nil:
			r.rest = last.node.packed
			r.path = r.path[:len(r.path)-1]
			return true
		case last.next < len(last.node.kids):
			next := last.node.kids[last.next].node.passing()
			last.next++
			r.path = append(r.path, step{node: next})
		default:
			r.path = r.path[:len(r.path)-1]
		}
	}
	return false
}
