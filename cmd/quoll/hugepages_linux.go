package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePages returns the size of a huge page, 0 if there are none, and whether they are for those who ask only.
func hugePages() (size uint64, asking bool) {
	const dir = "/sys/kernel/mm/transparent_hugepage/"
	setting, err := os.ReadFile(dir + "enabled")
	if err != nil || bytes.Contains(setting, []byte("[never]")) {
		return 0, false
	}
	text, _ := os.ReadFile(dir + "hpage_pmd_size")
	size, _ = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 63)
	return size, bytes.Contains(setting, []byte("[madvise]"))
}

// askForHeap asks for the heap beyond an address, and returns where the heap ends. What of it is in use already is
// made huge at once, and a little that is not is touched, because who uses it first would have to wait: a virtual machine
// may need milliseconds for a huge page that it never had. It is only about speed: whatever goes wrong, the pages stay small.
func askForHeap(beyond, size uint64) uint64 {
	heap := ownHeap("/proc/self/maps")
	if len(heap) > mostMappings {
		return beyond
	}
	for _, m := range heap {
		if m.start = max(m.start, beyond); m.start < m.end {
			_ = m.advise(unix.MADV_HUGEPAGE)
			for page := range m.pages(size) {
				if page.advise(unix.MADV_COLLAPSE) != 0 && m.end-m.start <= mostTouched { // of nothing it makes nothing
					_ = page.advise(unix.MADV_POPULATE_WRITE)
				}
			}
			beyond = m.end
		}
	}
	return beyond
}

// mostMappings is of how many pieces the heap is asked for. Each stays by itself in the system's books,
// 4 MiB for a start, and a process may have 65,530 of them.
const mostMappings = 16 << 10

// mostTouched is how much of the heap is touched before it is used. It grows by 4 MiB, or by what a large object needs, of
// which only its owner knows how much it will use.
const mostTouched = 16 << 20 // bytes

// mendHeap makes huge again what was so, as far as it is in use, resting after each page, and returns for how long it
// has rested. What has been given back of such a page comes along, so one of which that is more than a quarter stays as it is.
func mendHeap(ctx context.Context, size uint64) (rested time.Duration) {
	enough := size - size/4
	for _, m := range ownHeap("/proc/self/smaps") {
		if m.resident-min(m.huge, m.resident) < enough {
			continue
		}
		for page := range m.pages(size) {
			if ctx.Err() != nil {
				return rested
			}
			if page.present() < enough {
				continue
			}
			began := time.Now()
			_ = page.advise(unix.MADV_COLLAPSE)
			rest := hugePagesRest * time.Since(began)
			time.Sleep(rest)
			rested += rest
		}
	}
	return rested
}

// heapObject is something in the heap, which begins at another address in each process.
var heapObject *[1]byte

// ownHeap returns the pieces of this process' heap, as a file of the system describes them.
func ownHeap(file string) []mapping {
	description, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer description.Close()
	heapObject = new([1]byte)
	return heapMappings(description, uint64(uintptr(unsafe.Pointer(heapObject))))
}

// mapping is a piece of a process' memory.
type mapping struct {
	start, end  uint64
	used        bool // not just reserved
	isAnonymous bool // no file

	// Of those in smaps only, in bytes: what there is of it, and in huge pages.
	resident, huge uint64
}

func (m *mapping) advise(advice uintptr) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_MADVISE, uintptr(m.start), uintptr(m.end-m.start), advice)
	return errno
}

// pages returns the places for huge pages in a mapping. The system is asked for one at a time: of several it does none if
// it cannot do the first.
func (m *mapping) pages(size uint64) iter.Seq[*mapping] {
	return func(yield func(*mapping) bool) {
		for start := (m.start + size - 1) / size * size; start+size <= m.end; start += size {
			if !yield(&mapping{start: start, end: start + size}) {
				return
			}
		}
	}
}

// present returns how many bytes of a mapping there are in memory.
func (m *mapping) present() uint64 {
	pageSize := uint64(os.Getpagesize())
	pages := make([]byte, (m.end-m.start)/pageSize)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(m.start), uintptr(m.end-m.start), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		return 0
	}
	return uint64(bytes.Count(pages, []byte{1})) * pageSize
}

// heapMappings returns the pieces of the heap in use, according to /proc/PID/maps or smaps and the address of something in
// it: the runtime maps them one behind the other, with what it has reserved between them. It allocates
// hardly anything: it is called all the time, and garbage makes the heap grow.
func heapMappings(maps io.Reader, object uint64) []mapping {
	var heap []mapping
	found := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Bytes()
		if len(line) > 0 && 'A' <= line[0] && line[0] <= 'Z' { // of the piece before, in smaps
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

// parseMapping takes a line as "3295eb800000-3295ec000000 rw-p 00000000 00:00 0   [anon: Go: heap]".
func parseMapping(line []byte) (m mapping, ok bool) {
	span, line, _ := bytes.Cut(line, []byte(" "))
	access, line, _ := bytes.Cut(line, []byte(" "))
	_, line, _ = bytes.Cut(line, []byte(" ")) // where in the file
	_, line, _ = bytes.Cut(line, []byte(" ")) // its device
	inode, _, _ := bytes.Cut(line, []byte(" "))
	start, end, _ := bytes.Cut(span, []byte("-"))
	var err1, err2 error
	m.start, err1 = strconv.ParseUint(string(start), 16, 64)
	m.end, err2 = strconv.ParseUint(string(end), 16, 64)
	m.used, m.isAnonymous = bytes.HasPrefix(access, []byte("rw")), string(inode) == "0"
	return m, err1 == nil && err2 == nil
}

// note takes what a line of smaps says, as "Rss:  4096 kB".
func (m *mapping) note(line []byte) {
	switch name, what, _ := bytes.Cut(line, []byte(":")); string(name) {
	case "Rss":
		m.resident = kilobytes(what)
	case "AnonHugePages":
		m.huge = kilobytes(what)
	}
}

func kilobytes(text []byte) uint64 {
	n, _ := strconv.ParseUint(string(bytes.TrimSpace(bytes.TrimSuffix(text, []byte("kB")))), 10, 53)
	return n << 10
}
