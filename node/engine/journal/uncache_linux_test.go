package journal

import (
	"bytes"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestASegmentBeginsUncached, be it new and filled with zeros, or one that was written to before: what is written to it is in memory in pieces of its own.
func TestASegmentBeginsUncached(t *testing.T) {
	dir := t.TempDir()
	var fs unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &fs))
	if fs.Type == unix.TMPFS_MAGIC {
		t.Skip("all that a tmpfs has is in memory")
	}
	j := &Journal{opt: Options{SegmentSize: 4 << 20}.withDefaults(), fs: directory(dir), filling: true}
	s, err := j.newSegment(7, nil)
	require.NoError(t, err)
	require.Less(t, cached(t, s), s.size/8)
	require.NoError(t, writeZeros(s.file, s.size))
	require.Equal(t, s.size, cached(t, s))
	require.NoError(t, j.fs.Rename(s.name(), s.spareName()))
	s, err = j.newSegment(7, s)
	require.NoError(t, err)
	require.Less(t, cached(t, s), s.size/8)
	j.discard(s, s.name())
}

// cached returns how much of a segment the system has in memory.
func cached(t *testing.T, s *segment) int64 {
	file := s.file.(diskFile)
	mapped, err := unix.Mmap(int(file.Fd()), 0, int(s.size), unix.PROT_READ, unix.MAP_SHARED)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(mapped)) }()
	pages := make([]byte, int(s.size)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(s.size), uintptr(unsafe.Pointer(&pages[0])))
	require.Zero(t, errno)
	return int64(bytes.Count(pages, []byte{1}) * os.Getpagesize())
}
