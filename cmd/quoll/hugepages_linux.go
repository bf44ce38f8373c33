package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
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
// made huge at once: by itself the system comes round to it, at some megabytes a second. It is only about speed: whatever goes
// wrong, the pages stay small.
func askForHeap(beyond uint64) uint64 {
	heap := ownHeap("/proc/self/maps")
	if len(heap) > mostMappings {
		return beyond
	}
	for _, m := range heap {
		if m.start = max(m.start, beyond); m.start < m.end {
			m.advise(unix.MADV_HUGEPAGE)
			m.collapse()
			beyond = m.end
		}
	}
	return beyond
}

// mostMappings is of how many pieces the heap is asked for. Each stays by itself in the system's books,
// 4 MiB for a start, and a process may have 65,530 of them.
const mostMappings = 16 << 10

// mendHeap makes huge again what was so, as far as it is in use. What the collector has given back of it comes
// along, so pieces of which it has given back a quarter or more stay as they are.
func mendHeap(ctx context.Context) {
	for _, m := range ownHeap("/proc/self/smaps") {
		if ctx.Err() != nil {
			return
		}
		if size := m.end - m.start; m.asked && m.huge < m.resident && m.resident > size-size/4 {
			m.collapse()
		}
	}
}

// landmark is something in the heap, which begins at another address in each process.
var landmark *[1]byte

// ownHeap returns the pieces of this process' heap, as a file of the system describes them.
func ownHeap(file string) []mapping {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	landmark = new([1]byte)
	return heapMappings(string(text), uint64(uintptr(unsafe.Pointer(landmark))))
}

// mapping is a piece of a process' memory.
type mapping struct {
	start, end  uint64
	used        bool // not just reserved
	isAnonymous bool // no file

	// Of those in smaps only, in bytes: what there is of it, and in huge pages; and whether these were asked for.
	resident, huge uint64
	asked          bool
}

func (m *mapping) advise(advice uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(m.start), uintptr(m.end-m.start), advice)
}

// collapse makes what there is of the piece huge pages, one at a time: asked for several, the system ends at
// the first that cannot be.
func (m *mapping) collapse() {
	const size = 2 << 20 // or more, on some machines: then it refuses
	for start := (m.start + size - 1) &^ (size - 1); start+size <= m.end; start += size {
		(&mapping{start: start, end: start + size}).advise(unix.MADV_COLLAPSE)
	}
}

// heapMappings returns the pieces of the heap in use, according to /proc/PID/maps or smaps and the address of something in
// it: the runtime maps them one behind the other, with what it has reserved between them.
func heapMappings(maps string, object uint64) []mapping {
	var heap []mapping
	found := false
	for line := range strings.Lines(maps) {
		if 'A' <= line[0] && line[0] <= 'Z' { // of the piece before, in smaps
			if len(heap) > 0 {
				heap[len(heap)-1].note(line)
			}
			continue
		}
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

// note takes what a line of smaps says: "Rss:  4096 kB", or "VmFlags: rd wr hg".
func (m *mapping) note(line string) {
	name, what, _ := strings.Cut(line, ":")
	words := strings.Fields(what)
	switch name {
	case "Rss":
		m.resident = kilobytes(words)
	case "AnonHugePages":
		m.huge = kilobytes(words)
	case "VmFlags":
		m.asked = slices.Contains(words, "hg")
	}
}

func kilobytes(words []string) uint64 {
	if len(words) != 2 {
		return 0
	}
	n, _ := strconv.ParseUint(words[0], 10, 54)
	return n << 10
}
