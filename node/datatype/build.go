package datatype

import (
	"errors"
	"fmt"
	"io"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// ErrBuild is returned (wrapped) for what is not the packed form of an object.
var ErrBuild = errors.New("datatype: not an object")

// Builder makes an object of what its Reader reads, which comes in pieces from elsewhere, is not kept, and not trusted. What it has not
// been given yet takes no memory.
type Builder interface {
	io.Writer
	// Object returns the object once all has been written. The builder is not to be used any more.
	Object() (record.Object, error)
}

// NewBuilder returns a builder for an object of a type that is so many bytes when it is packed. Errors are ErrBuild.
func NewBuilder(t record.Type, size int) (Builder, error) {
	switch t {
	case record.String:
		return textBuilder{parts.NewRopeBuilder(size)}, nil
	case record.Hash:
		return hashBuilder{parts.NewBuilder(size)}, nil
	}
	return nil, fmt.Errorf("%w: a %s has none", ErrBuild, t)
}

// textBuilder builds a string that is in parts. Any string may be: see text.
type textBuilder struct{ *parts.RopeBuilder }

// Object implements Builder.
func (b textBuilder) Object() (record.Object, error) {
	r, err := b.Rope()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	return r, nil
}

// hashBuilder builds a hash that is in parts.
type hashBuilder struct{ *parts.Builder }

// Object implements Builder.
func (b hashBuilder) Object() (record.Object, error) {
	m, err := b.Map()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	if settled := (hash{parts: m}).settled(); settled.parts == nil {
		return nil, fmt.Errorf("%w: a hash of %d fields and %d bytes is packed", ErrBuild, m.Len(), m.Size())
	}
	return m, nil
}
