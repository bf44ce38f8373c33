//go:build !race

package arena

// Spoils says that this is a build for tests, in which what is given back, or lent to another one next, is spoilt and not used again.
const Spoils = false

// Spoil does nothing but in builds for tests.
func Spoil([]byte) {}
