package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePagesForThoseWhoAsk reports whether asking makes a difference.
func hugePagesForThoseWhoAsk() bool {
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && bytes.Contains(setting, []byte("[madvise]"))
}

// askForHeap asks for the heap beyond an address, and returns where the heap ends. What of it is in use already is
// made huge at once: by itself the system comes round to it, at some megabytes a second. That is done once only, so that what the
// collector gives back later stays away. It is only about speed: whatever goes wrong, the pages stay small.
func askForHeap(beyond uint64) uint64 {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return beyond
	}
	landmark = new([1]byte)
	for _, m := range heapMappings(string(maps), uint64(uintptr(unsafe.Pointer(landmark)))) {
		if start := max(m.start, beyond); start < m.end {
			for _, advice := range []uintptr{unix.MADV_HUGEPAGE, unix.MADV_COLLAPSE} {
				_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(m.end-start), advice)
			}
			beyond = m.end
		}
	}
	return beyond
}

// landmark is something in the heap, which begins at another address in each process.
var landmark *[1]byte

// mapping is a piece of a process' memory.
type mapping struct {
	start, end  uint64
	used        bool // not just reserved
	isAnonymous bool // no file
}

// heapMappings returns the pieces of the heap in use, according to /proc/PID/maps and the address of something in
// it: the runtime maps them one behind the other, with what it has reserved between them.
func heapMappings(maps string, object uint64) []mapping {
	var heap []mapping
	found := false
	for line := range strings.Lines(maps) {
		m, ok := parseMapping(line)
		if !ok || !m.isAnonymous || len(heap) > 0 && heap[len(heap)-1].end != m.start {
			if found {
				break
			}
			heap = heap[:0]
		}
		if ok && m.isAnonymous {
			heap = append(heap, m)
			found = found || m.start <= object && object < m.end
		}
	}
	if !found {
		return nil
	}
	return slices.DeleteFunc(heap, func(m mapping) bool { return !m.used })
}

func parseMapping(line string) (m mapping, ok bool) {
	var (
		access, offset, device string
		inode                  uint64
	)
	_, err := fmt.Sscanf(line, "%x-%x %s %s %s %d", &m.start, &m.end, &access, &offset, &device, &inode)
	m.used, m.isAnonymous = strings.HasPrefix(access, "rw"), inode == 0
	return m, err == nil
}
