package record

import "io"

// Builder makes an object of what its Reader reads, which comes in pieces from elsewhere, is not kept, and not trusted. What it has not
// been given yet takes no memory.
type Builder interface {
	io.Writer
	// Object returns the object once all has been written. The builder is not to be used any more.
	Object() (Object, error)
}
