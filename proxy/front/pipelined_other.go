//go:build !unix

package front

// inputWaits reports whether a socket has something to read: not known here.
func inputWaits(uintptr) bool { return false }
