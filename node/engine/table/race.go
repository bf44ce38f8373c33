//go:build race

package table

import "bytes"

// In builds for tests memory is not used again, and whoever keeps what it has borrowed finds rubbish there.

const inPlace = false

// scribble spoils memory that is given back.
func scribble(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

// unborrowed returns bytes that are not part of what is given back next.
func unborrowed(b []byte) []byte { return bytes.Clone(b) }
