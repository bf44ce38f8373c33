package datatype

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/record"
)

// ErrBuild is returned (wrapped) for what is not the packed form of an object.
var ErrBuild = errors.New("datatype: not an object")

// NewBuilder returns a builder for an object of a type that is so many bytes when it is packed. Errors are ErrBuild.
func NewBuilder(t record.Type, size int) (record.Builder, error) {
	if v := verbsOf(t); v != nil {
		return v.build(size), nil
	}
	return nil, fmt.Errorf("%w: a %s has none", ErrBuild, t)
}
