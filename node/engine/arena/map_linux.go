//go:build !race

package arena

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// offHeap: what mapRegion returns is not of Go's heap.
const offHeap = true

// mapRegion returns memory that takes nothing before it is used, at an address that is a multiple of chunkSize. Without
// address space a process ends, as it does when Go's heap finds none.
func mapRegion(size int) unsafe.Pointer {
	memory, err := unix.MmapPtr(-1, 0, nil, uintptr(size+chunkSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(fmt.Sprintf("arena: the system does not give %d MiB of address space: %v", size>>20, err))
	}
	region := unsafe.Add(memory, (chunkSize-uintptr(memory)%chunkSize)%chunkSize)
	if askForHuge() { // of those that do not ask they are kept from, or given anyway: whatever goes wrong, the pages are small
		_ = unix.Madvise(unsafe.Slice((*byte)(region), size), unix.MADV_HUGEPAGE)
	}
	return region
}

// giveBack gives memory back to the system. It remains mapped, and is zero when it is used again.
func giveBack(base unsafe.Pointer, size int) {
	_ = unix.Madvise(unsafe.Slice((*byte)(base), size), unix.MADV_DONTNEED)
}

// askForHuge reports whether the system gives huge pages to those that ask, and this process may: GODEBUG=disablethp=1, with which Go
// refuses them, does that here too.
var askForHuge = sync.OnceValue(func() bool {
	setting, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return bytes.Contains(setting, []byte("[madvise]")) && !strings.Contains(os.Getenv("GODEBUG"), "disablethp=1")
})
