package record

import "io"

// Builder makes a large value of its bytes, as it is sent and stored, which come in pieces from elsewhere, are not kept, and not trusted. What it has not
// been given yet takes no memory, unless the value is to be bytes: those have their place from the beginning.
type Builder interface {
	io.Writer
	// State returns the value once all has been written. The builder is not to be used any more.
	State() (State, error)
}
