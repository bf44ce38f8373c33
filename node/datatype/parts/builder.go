package parts

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
)

// ErrPacked is returned (wrapped) by a Builder for what is not the packed form of a Map, or of a Sequence.
var ErrPacked = errors.New("parts: not the packed form of a collection")

// Builder makes a Map of its packed form, as Map.Reader reads it, which is written to it in pieces of any lengths. It takes the memory
// of the Map, and of one piece. Nothing that it is given is kept, or trusted: a length is compared with what is still to come before
// that is waited for, and items are in order, each once. An error is final.
type Builder struct {
	left int // bytes that are still to come
	// count is how many items there are to be, known when counted, and have how many there are.
	counted     bool
	count, have uint64

	// buf[start:done] are the items of the next part, buf[done:] is what has come of the item after them.
	buf         []byte
	start, done int
	items       int    // of the next part
	last        []byte // the key of the item before done
	lastPos     uint64
	levels      [][]child // nodes that have none above them yet, parts first
	elements    bool      // items are elements, in whatever order: it makes a Sequence
	err         error
}

// NewBuilder returns a builder for a packed form of so many bytes.
func NewBuilder(size int) *Builder { return &Builder{left: size} }

// Write implements io.Writer. Errors are ErrPacked.
func (b *Builder) Write(p []byte) (int, error) {
	if b.err == nil {
		b.err = b.write(p)
	}
	if b.err != nil {
		return 0, b.err
	}
	return len(p), nil
}

func (b *Builder) write(p []byte) error {
	if len(p) > b.left {
		return fmt.Errorf("%w: it is longer than announced", ErrPacked)
	}
	b.left -= len(p)
	b.buf = buffer.Append(b.buf, p)
	if !b.counted {
		n, size := binary.Uvarint(b.buf)
		if size < 0 || size > 0 && n == 0 {
			return fmt.Errorf("%w: a bad number of items", ErrPacked)
		}
		if size == 0 {
			return nil
		}
		b.count, b.counted, b.start, b.done = n, true, size, size
	}
	for {
		key, end, err := b.next()
		if err == nil && end > 0 {
			err = b.item(key, end)
		}
		if err != nil {
			return err
		}
		if end == 0 {
			break
		}
	}
	b.buf = b.buf[:copy(b.buf, b.buf[b.start:])]
	b.start, b.done = 0, b.done-b.start
	return nil
}

// next returns the key of the item that begins at done, and where the item ends: 0 if it has not come whole.
func (b *Builder) next() (key []byte, end int, err error) {
	if key, end, err = b.lengthened(b.done); end > 0 && !b.elements {
		_, end, err = b.lengthened(end)
	}
	return key, end, err
}

// lengthened is Lengthened of what may not have come whole. Then end is 0.
func (b *Builder) lengthened(at int) (part []byte, end int, err error) {
	n, size := binary.Uvarint(b.buf[at:])
	have := len(b.buf) - at - max(size, 0)
	switch {
	case size < 0 || size > 0 && n > uint64(have+b.left):
		return nil, 0, fmt.Errorf("%w: a length is beyond the end", ErrPacked)
	case size == 0 || n > uint64(have):
		return nil, 0, nil
	}
	at += size
	return b.buf[at : at+int(n)], at + int(n), nil
}

// item takes the item that ends at end.
func (b *Builder) item(key []byte, end int) error {
	if b.have == b.count {
		return fmt.Errorf("%w: it has more items than it says", ErrPacked)
	}
	if b.elements {
		if b.items > 0 && end-b.start > fullPart {
			b.cut()
		}
		b.have, b.items, b.done = b.have+1, b.items+1, end
		return nil
	}
	pos := Position(key)
	switch {
	case b.have > 0 && (pos < b.lastPos || pos == b.lastPos && string(key) <= string(b.last)):
		return fmt.Errorf("%w: an item is not in its place", ErrPacked)
	case b.items > 0 && pos != b.lastPos && end-b.start > fullPart:
		b.cut()
	}
	b.last, b.lastPos = append(b.last[:0], key...), pos
	b.have, b.items, b.done = b.have+1, b.items+1, end
	return nil
}

// cut makes a part of what is before done.
func (b *Builder) cut() {
	leaf := newLeaf(b.buf[b.start:b.done], b.items)
	b.push(0, b.child(leaf))
	b.start, b.items = b.done, 0
}

// child returns a node as it is below another one.
func (b *Builder) child(n *node) child {
	if b.elements {
		return counted(n)
	}
	return child{n.low(), n}
}

// push adds a node of a level, 0 for parts, and the node above it if that is full.
func (b *Builder) push(level int, c child) {
	if level == len(b.levels) {
		b.levels = append(b.levels, nil)
	}
	b.levels[level] = append(b.levels[level], c)
	if len(b.levels[level]) == full(b.levels[level]) {
		b.lift(level)
	}
}

// lift puts a node above those of a level that have none.
func (b *Builder) lift(level int) {
	kids := b.levels[level]
	b.levels[level] = kids[:0]
	b.push(level+1, b.child(newInner(kids)))
}

// Map returns the map when all of it has been written, or ErrPacked. The builder is not to be used any more.
func (b *Builder) Map() (*Map, error) {
	root, err := b.root()
	if err != nil {
		return nil, err
	}
	return newMap(root), nil
}

// root returns the root when all has been written.
func (b *Builder) root() (*node, error) {
	switch {
	case b.err != nil:
		return nil, b.err
	case b.left > 0 || b.done < len(b.buf) || b.have != b.count || b.count == 0:
		b.err = fmt.Errorf("%w: its end is missing", ErrPacked)
		return nil, b.err
	}
	b.cut()
	for level := 0; len(b.levels[level]) > 1 || level < len(b.levels)-1; level++ {
		if len(b.levels[level]) > 0 {
			b.lift(level)
		}
	}
	return b.levels[len(b.levels)-1][0].node, nil
}
