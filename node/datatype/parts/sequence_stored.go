package parts

import "github.com/quolldb/quoll/internal/record"

// Root implements record.Parted. An empty sequence, which is no object of a key, has none.
func (s *Sequence) Root() record.Part {
	root := s.frozenRoot()
	if root == nil {
		return nil
	}
	return root
}

// Source implements record.Parted.
func (s *Sequence) Source() record.Source { return s.origin.source() }

// AssembleSequence makes the sequence whose root a store keeps at a place. See AssembleMap.
func AssembleSequence(root record.Place, from record.Source) (*Sequence, error) {
	n, origin, err := assemble(&unread{from: from, at: root, levels: deepest, ranked: true})
	if err != nil {
		return nil, err
	}
	s := newSequence(n)
	s.origin = origin
	return s, nil
}

// counts reports whether a node says of each one below it how many elements that has.
func (n *node) counts() bool {
	for _, k := range n.kids {
		if k.low != uint64(k.node.count) || k.node.count <= 0 {
			return false
		}
	}
	return true
}

// SequenceBuilder is a Builder of a Sequence.
type SequenceBuilder struct{ builder Builder }

// NewSequenceBuilder returns a builder for a packed form of so many bytes.
func NewSequenceBuilder(size int) *SequenceBuilder {
	return &SequenceBuilder{Builder{left: size, elements: true}}
}

// Write implements io.Writer. Errors are ErrPacked.
func (b *SequenceBuilder) Write(p []byte) (int, error) { return b.builder.Write(p) }

// Sequence returns the sequence when all of it has been written, or ErrPacked. The builder is not to be used any more.
func (b *SequenceBuilder) Sequence() (*Sequence, error) {
	root, err := b.builder.root()
	if err != nil {
		return nil, err
	}
	return newSequence(root), nil
}

// UnpackSequence makes a sequence of its packed form, of which nothing is kept. It reports false for what is none, or has no elements.
func UnpackSequence(packed []byte) (*Sequence, bool) {
	b := NewSequenceBuilder(len(packed))
	_, _ = b.Write(packed) // whose error Sequence returns, too
	s, err := b.Sequence()
	return s, err == nil
}
