//go:build !race

package arena

import (
	"bytes"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestTheSystemHasIt: a chunk that is given back takes no memory.
func TestTheSystemHasIt(t *testing.T) {
	resident := func(base unsafe.Pointer) int {
		pages := make([]byte, chunkSize/os.Getpagesize())
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(base), chunkSize, uintptr(unsafe.Pointer(&pages[0])))
		require.Zero(t, errno)
		return bytes.Count(pages, []byte{1})
	}
	chunks := make([]unsafe.Pointer, dirtyMost+3)
	for i := range chunks {
		chunks[i] = pool.get()
		clear(unsafe.Slice((*byte)(chunks[i]), chunkSize))
		require.NotZero(t, resident(chunks[i]))
	}
	for _, c := range chunks {
		pool.put(c)
	}
	for _, c := range chunks[dirtyMost:] {
		require.Zero(t, resident(c))
	}
}
