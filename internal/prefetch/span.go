//go:build amd64 || arm64

package prefetch

import "unsafe"

// Span brings the size bytes from p on near, line by line.
//
//go:noescape
func Span(p unsafe.Pointer, size uintptr)
