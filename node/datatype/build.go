package datatype

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// ErrBuild is returned (wrapped) for what is no large value.
var ErrBuild = errors.New("datatype: not a large value")

// longestBytes is more than any value has that is bytes: those came in one frame, or will leave in one.
const longestBytes = 1 << 30

// NewBuilder returns a builder for a value of a type that has so many bytes as it is sent and stored: an object, or, if it is plain, bytes. Errors are ErrBuild.
func NewBuilder(t record.Type, plain bool, size int) (record.Builder, error) {
	v := verbsOf(t)
	switch {
	case t == record.Batch && plain && size <= longestBytes: // it is of several keys, and belongs to the protocol
	case v == nil:
		return nil, fmt.Errorf("%w: a %s has none", ErrBuild, t)
	case !plain:
		return v.build(size), nil
	case v.live != nil || size > longestBytes:
		return nil, fmt.Errorf("%w: %d plain bytes of a %s", ErrBuild, size, t)
	}
	return &plainBuilder{t, size, make([]byte, 0, size)}, nil
}

// plainBuilder builds a value that is bytes.
type plainBuilder struct {
	typ   record.Type
	size  int
	value []byte
}

// Write implements io.Writer.
func (b *plainBuilder) Write(p []byte) (int, error) {
	if len(b.value)+len(p) > b.size {
		return 0, fmt.Errorf("%w: there are more bytes than %d", ErrBuild, b.size)
	}
	b.value = buffer.Append(b.value, p)
	return len(p), nil
}

// State implements record.Builder.
func (b *plainBuilder) State() (record.State, error) {
	if len(b.value) != b.size {
		return record.State{}, fmt.Errorf("%w: there are %d bytes, not %d", ErrBuild, len(b.value), b.size)
	}
	return record.State{Type: b.typ, Value: b.value}, nil
}
