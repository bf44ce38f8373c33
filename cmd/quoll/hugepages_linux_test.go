package main

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestHeapMappings(t *testing.T) {
	const maps = `00400000-00c96000 r-xp 00000000 fe:00 42                   /usr/bin/quoll
016f3000-03764000 rw-p 00000000 00:00 0
3295e8000000-3295eb800000 ---p 00000000 00:00 0
3295eb800000-3295ec000000 rw-p 00000000 00:00 0                            [anon: Go: heap]
3295ec000000-3295ee000000 rw-p 00000000 00:00 0
7f6290000000-7f6290021000 rw-p 00000000 00:00 0
7f6290021000-7f6294000000 ---p 00000000 00:00 0
7f62efd0f000-7f62efd35000 r--p 00000000 fe:00 326269                     /usr/lib/libc.so.6
7fff3a338000-7fff3a359000 rw-p 00000000 00:00 0                          [stack]
`
	heap := []mapping{{start: 0x3295eb800000, end: 0x3295ec000000, used: true, isAnonymous: true},
		{start: 0x3295ec000000, end: 0x3295ee000000, used: true, isAnonymous: true}}
	require.Equal(t, heap, heapMappings(maps, 0x3295ebe00000))
	require.Equal(t, heap, heapMappings(maps, 0x3295ec000000))
	for _, elsewhere := range []uint64{0, 0x500000, 0x3295ee000000, 1 << 60} {
		require.Empty(t, heapMappings(maps, elsewhere))
	}
	require.Empty(t, heapMappings("nonsense\n\n", 1))
}

func TestMappingsWithDetails(t *testing.T) {
	const smaps = `3295e8000000-3295eb800000 ---p 00000000 00:00 0
Size:              57344 kB
Rss:                   0 kB
VmFlags: mr mw me
3295eb800000-3295ebc00000 rw-p 00000000 00:00 0                            [anon: Go: heap]
Size:               4096 kB
Rss:                3928 kB
AnonHugePages:      2048 kB
VmFlags: rd wr mr mw me ac hg
3295ebc00000-3295ec000000 rw-p 00000000 00:00 0
Rss:                 many
AnonHugePages:
VmFlags:
7f6290000000-7f6290021000 rw-p 00000000 00:00 0
Rss:                  12 kB
`
	require.Equal(t, []mapping{
		{start: 0x3295eb800000, end: 0x3295ebc00000, used: true, isAnonymous: true, resident: 3928 << 10, huge: 2 << 20, asked: true},
		{start: 0x3295ebc00000, end: 0x3295ec000000, used: true, isAnonymous: true},
	}, heapMappings(smaps, 0x3295eb800000))
}

// TestMendHeap: a huge page that was taken apart, because a little of it was given back, is put together again.
func TestMendHeap(t *testing.T) {
	if !hugePagesForThoseWhoAsk() {
		t.Skip("transparent_hugepage is not set to madvise here")
	}
	large := make([]byte, 32<<20)
	for i := range large {
		large[i] = 1
	}
	askForHeap(0)
	where := uint64(uintptr(unsafe.Pointer(&large[16<<20])))
	piece := func() mapping {
		for _, m := range ownHeap("/proc/self/smaps") {
			if m.start <= where && where < m.end {
				return m
			}
		}
		return mapping{}
	}
	whole := piece()
	if whole.huge != whole.resident {
		t.Skipf("the system has no huge pages to give: %+v", whole)
	}
	begin := (where + 4095) &^ 4095
	(&mapping{start: begin, end: begin + 4096}).advise(unix.MADV_DONTNEED)
	require.Less(t, piece().huge, whole.huge)
	mendHeap(t.Context())
	require.Equal(t, whole, piece())
	require.Equal(t, byte(0), large[16<<20+4095])
	require.Equal(t, byte(1), large[len(large)-1])
}

// TestTheHeapIsWhereItIsLookedFor: if the runtime's heap is not in one piece one day, nobody asks for huge pages any more.
func TestTheHeapIsWhereItIsLookedFor(t *testing.T) {
	first, second := new([40 << 20]byte), new([80 << 20]byte) // more than an arena of 64 MiB
	heap := ownHeap("/proc/self/maps")
	for _, object := range []unsafe.Pointer{unsafe.Pointer(&first[0]), unsafe.Pointer(&second[0]), unsafe.Pointer(&second[len(second)-1])} {
		found := false
		for _, m := range heap {
			found = found || m.start <= uint64(uintptr(object)) && uint64(uintptr(object)) < m.end
		}
		require.True(t, found, "an object at %p in %x", object, heap)
	}
	end := askForHeap(0)
	require.Greater(t, end, uint64(uintptr(unsafe.Pointer(second))))
	require.GreaterOrEqual(t, askForHeap(end), end)
	first[0], second[len(second)-1] = 1, 1
}
