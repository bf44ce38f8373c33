package main

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
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
	heap := []mapping{{0x3295eb800000, 0x3295ec000000, true, true}, {0x3295ec000000, 0x3295ee000000, true, true}}
	require.Equal(t, heap, heapMappings(maps, 0x3295ebe00000))
	require.Equal(t, heap, heapMappings(maps, 0x3295ec000000))
	for _, elsewhere := range []uint64{0, 0x500000, 0x3295ee000000, 1 << 60} {
		require.Empty(t, heapMappings(maps, elsewhere))
	}
	require.Empty(t, heapMappings("nonsense\n\n", 1))
}

// TestTheHeapIsWhereItIsLookedFor: if the runtime's heap is not in one piece one day, nobody asks for huge pages any more.
func TestTheHeapIsWhereItIsLookedFor(t *testing.T) {
	first, second := new([40 << 20]byte), new([80 << 20]byte) // more than an arena of 64 MiB
	landmark = new([1]byte)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	heap := heapMappings(string(maps), uint64(uintptr(unsafe.Pointer(landmark))))
	for _, object := range []unsafe.Pointer{unsafe.Pointer(&first[0]), unsafe.Pointer(&second[0]), unsafe.Pointer(&second[len(second)-1])} {
		found := false
		for _, m := range heap {
			found = found || m.start <= uint64(uintptr(object)) && uint64(uintptr(object)) < m.end
		}
		require.True(t, found, "an object at %p in\n%s", object, maps)
	}
	end := askForHeap(0)
	require.Greater(t, end, uint64(uintptr(unsafe.Pointer(second))))
	require.GreaterOrEqual(t, askForHeap(end), end)
	first[0], second[len(second)-1] = 1, 1
}
