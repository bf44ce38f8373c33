package prefetch_test

import (
	"testing"
	"unsafe"

	"github.com/quolldb/quoll/internal/prefetch"
)

// What is asked for need not exist, nor be aligned: nothing is read.
func TestAnythingMayBeAskedFor(t *testing.T) {
	prefetch.Of[int](nil)
	buf := make([]byte, 1000)
	for start := range 130 {
		for size := range 200 {
			prefetch.Span(unsafe.Pointer(&buf[start]), uintptr(size))
		}
	}
	prefetch.Span(unsafe.Pointer(&buf[999]), 1<<20) // beyond the end
}

// BenchmarkSpan is the cost for what is near already: 448 bytes are a replica of a slot and its home.
func BenchmarkSpan(b *testing.B) {
	buf := make([]byte, 448)
	for b.Loop() {
		prefetch.Span(unsafe.Pointer(&buf[0]), uintptr(len(buf)))
	}
}
