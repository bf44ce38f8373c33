package datatype

import (
	"errors"
	"fmt"
	"io"

	"github.com/quolldb/quoll/internal/record"
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
	if v := verbsOf(t); v != nil {
		return v.build(size), nil
	}
	return nil, fmt.Errorf("%w: a %s has none", ErrBuild, t)
}
