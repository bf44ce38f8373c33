package parts

import (
	"errors"
	"fmt"
	"io"
)

// Reader reads the bytes, from the first one to io.EOF. It takes no memory that depends on the rope.
func (r *Rope) Reader() io.Reader { return &ropeReader{rope: r} }

type ropeReader struct {
	rope *Rope
	at   int
}

// Read implements io.Reader.
func (r *ropeReader) Read(p []byte) (n int, err error) {
	if r.at == r.rope.size && len(p) > 0 {
		return 0, io.EOF
	}
	for _, piece := range r.rope.Pieces(r.at, r.at+len(p)) {
		n += copy(p[n:], piece)
	}
	r.at += n
	return n, nil
}

// ErrRope is returned (wrapped) by a RopeBuilder for what has another length than was announced.
var ErrRope = errors.New("parts: not the bytes of a rope")

// RopeBuilder makes a Rope of its bytes, which are written to it in pieces of any lengths. It takes the memory of what has been written.
// An error is final.
type RopeBuilder struct {
	rope *Rope
	size int
	err  error
}

// NewRopeBuilder returns a builder for a rope of so many bytes.
func NewRopeBuilder(size int) *RopeBuilder { return &RopeBuilder{rope: new(Rope), size: size} }

// Write implements io.Writer. Errors are ErrRope.
func (b *RopeBuilder) Write(p []byte) (int, error) {
	if b.err == nil && len(p) > b.size-b.rope.size {
		b.err = fmt.Errorf("%w: there are more than %d", ErrRope, b.size)
	}
	if b.err != nil {
		return 0, b.err
	}
	b.rope = b.rope.With(0, b.rope.size, p)
	return len(p), nil
}

// Rope returns the rope when all of it has been written, or ErrRope.
func (b *RopeBuilder) Rope() (*Rope, error) {
	if b.err == nil && b.rope.size != b.size {
		b.err = fmt.Errorf("%w: there are %d, not %d", ErrRope, b.rope.size, b.size)
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.rope, nil
}
