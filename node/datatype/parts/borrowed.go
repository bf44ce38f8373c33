//go:build !race

package parts

// spoils says that this is a build for tests, in which what was borrowed is spoilt.
const spoils = false

// spoilt returns the bytes of a part that is changed in place. See the build for tests.
func spoilt(n *node) []byte { return n.packed }
