package main

import (
	"strings"
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
	require.Equal(t, heap, heapMappings(strings.NewReader(maps), 0x3295ebe00000))
	require.Equal(t, heap, heapMappings(strings.NewReader(maps), 0x3295ec000000))
	for _, elsewhere := range []uint64{0, 0x500000, 0x3295ee000000, 1 << 60} {
		require.Empty(t, heapMappings(strings.NewReader(maps), elsewhere))
	}
	require.Empty(t, heapMappings(strings.NewReader("nonsense\n\n"), 1))
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
VmFlags: rd
7f6290000000-7f6290021000 rw-p 00000000 00:00 0
Rss:                  12 kB
`
	require.Equal(t, []mapping{
		{start: 0x3295eb800000, end: 0x3295ebc00000, used: true, isAnonymous: true, resident: 3928 << 10, huge: 2 << 20},
		{start: 0x3295ebc00000, end: 0x3295ec000000, used: true, isAnonymous: true},
	}, heapMappings(strings.NewReader(smaps), 0x3295eb800000))

	long := strings.Repeat(smaps[:strings.Index(smaps, "3295eb8")], 1000) + smaps
	few := testing.AllocsPerRun(10, func() { heapMappings(strings.NewReader(long), 0x3295eb800000) })
	require.Less(t, few, 30.0, "allocations for a thousand pieces")
}

// TestWhatTheHeapGrewByIsTouched, so that nobody waits for it.
func TestWhatTheHeapGrewByIsTouched(t *testing.T) {
	size, _ := hugePages()
	if size != 2<<20 {
		t.Skipf("a huge page has %d bytes here", size)
	}
	little := make([]byte, 12<<20)
	start := uint64(uintptr(unsafe.Pointer(&little[0])))
	grown := &mapping{start: start, end: start + uint64(len(little))}
	heap := ownHeap("/proc/self/maps")
	if more := heap[len(heap)-1].end - start; more > mostTouched {
		t.Skipf("the heap goes on for %d MiB", more>>20)
	}
	for page := range grown.pages(size) {
		require.Zero(t, page.advise(unix.MADV_DONTNEED))
		require.Zero(t, page.present())
	}
	askForHeap(start, size)
	for page := range grown.pages(size) {
		require.Equal(t, size, page.present())
	}
	little[0] = 1
}

// TestMendHeap: a huge page that was taken apart, because a little of it was given back, is put together again; one of
// which much was given back is not.
func TestMendHeap(t *testing.T) {
	size, _ := hugePages()
	if size != 2<<20 {
		t.Skipf("a huge page has %d bytes here", size)
	}
	large := make([]byte, 32<<20)
	for i := range large {
		large[i] = 1
	}
	askForHeap(0, size)
	page := func(i int) *mapping {
		start := (uint64(uintptr(unsafe.Pointer(&large[0]))) + uint64(i)*size + size - 1) / size * size
		return &mapping{start: start, end: start + size}
	}
	giveBack := func(m *mapping, bytes uint64) {
		(&mapping{start: m.start, end: m.start + bytes}).advise(unix.MADV_DONTNEED)
		require.Equal(t, size-bytes, m.present())
	}
	giveBack(page(5), 4096)
	giveBack(page(10), size/2)
	before := hugeBytes()
	mendHeap(t.Context(), size)
	if hugeBytes() == before {
		t.Skip("the system has no huge pages to give")
	}
	require.Equal(t, size, page(5).present())
	require.Equal(t, size/2, page(10).present())
	zeros := 0
	for _, b := range large {
		if b == 0 {
			zeros++
		}
	}
	require.EqualValues(t, 4096+size/2, zeros, "nothing else is lost")
}

func hugeBytes() (sum uint64) {
	for _, m := range ownHeap("/proc/self/smaps") {
		sum += m.huge
	}
	return sum
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
	size, _ := hugePages()
	if size == 0 {
		return
	}
	end := askForHeap(0, size)
	require.Greater(t, end, uint64(uintptr(unsafe.Pointer(second))))
	require.GreaterOrEqual(t, askForHeap(end, size), end)
	first[0], second[len(second)-1] = 1, 1
}
