// Package arena is memory for the tables of an engine that is not on Go's heap. The garbage collector neither looks at it nor
// waits for as much again of garbage before it begins; it is counted when it is taken and when it is given back, so that there can be a limit
// to it; and what is free goes back to the system at once, in pieces as large as a huge page, which so stay huge.
//
// The collector does not see pointers that are in it: what they refer to on Go's heap has to be referred to from there, too. Whoever gives memory
// back uses it no more, as in C.
//
// An Arena is divided into chunks of 2 MiB, these into spans of 64 KiB, and each span into pieces of one size. Memory is only
// mapped, never unmapped: who reads through a slice of what was given back reads rubbish, but does not end the process.
package arena

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	chunkSize  = 2 << 20
	spanSize   = 64 << 10
	chunkSpans = chunkSize / spanSize
)

// Arena gives out memory. Its methods may be called at the same time. A nil Arena gives out memory of Go's heap, and counts
// nothing.
type Arena struct {
	used   atomic.Int64
	mu     sync.Mutex
	chunks []*chunk // by number; nil: given back
	spare  spanList // spans without pieces
	// partial has, for each size, the spans with pieces that are free.
	partial [classes]spanList
	bare    int // chunks of which all spans are spare
	// large has the pieces that are too large for a span: they are of Go's heap.
	large map[*byte]struct{}
}

// chunk is a piece of the system's memory. Its first bytes are its number, which is how the span of a piece is found.
type chunk struct {
	base   unsafe.Pointer
	number int
	spare  int // spans without pieces
	spans  [chunkSpans]span
}

// header is how many bytes there are at the beginning of a chunk for its number.
const header = 64

// span is a part of a chunk, for pieces of one size.
type span struct {
	chunk      *chunk
	next, prev *span // in a list of the arena's
	base       unsafe.Pointer
	size       uint32 // of a piece, 0: it has none
	room       uint32 // pieces that it has room for
	used       uint32 // pieces that are given out
	fresh      uint32 // pieces from here on were never given out
	free       uint32 // the first that was given back, counted from 1; its first bytes are the next one
	class      uint8
}

// New returns an empty arena.
func New() *Arena { return new(Arena) }

// Used returns how many bytes are given out, what was lent of other memory included. It blocks nobody.
func (a *Arena) Used() int64 {
	if a == nil {
		return 0
	}
	return a.used.Load()
}

// Lend counts memory that belongs to the arena's owner, but is elsewhere: bytes more, or less.
func (a *Arena) Lend(bytes int) {
	if a != nil && bytes != 0 {
		a.used.Add(int64(bytes))
	}
}

// Get returns an empty slice with room for n bytes at least, which are of any content. It begins with a line of cache if it has
// room for one.
func (a *Arena) Get(n int) []byte {
	if a == nil || n == 0 {
		return make([]byte, 0, n)
	}
	if n > largest {
		a.used.Add(int64(n))
		return a.allocate(n)
	}
	class := classFor[(n+grain-1)/grain]
	a.mu.Lock()
	s := a.partial[class].first
	if s == nil {
		s = a.newSpan(class)
	}
	piece := s.take()
	if s.used == s.room {
		a.partial[class].remove(s)
	}
	a.mu.Unlock()
	a.used.Add(int64(s.size))
	return unsafe.Slice((*byte)(piece), int(s.size))[:0]
}

// Put takes back what Get has returned, whatever its length is now.
func (a *Arena) Put(b []byte) {
	n := cap(b)
	if a == nil || n == 0 {
		return
	}
	if n > largest {
		a.used.Add(-int64(n))
		a.mu.Lock()
		delete(a.large, unsafe.SliceData(b))
		a.mu.Unlock()
		return
	}
	piece := unsafe.Pointer(unsafe.SliceData(b))
	at := uintptr(piece) % chunkSize
	number := *(*uint32)(unsafe.Add(piece, -int(at)))
	a.mu.Lock()
	s := &a.chunks[number].spans[at/spanSize]
	size := int64(s.size)
	if s.used == s.room {
		a.partial[s.class].add(s)
	}
	s.give(piece)
	if s.used == 0 {
		a.empty(s)
	}
	a.mu.Unlock()
	a.used.Add(-size)
}

// allocate returns a large piece.
func (a *Arena) allocate(n int) []byte {
	b := make([]byte, 0, n)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.large == nil {
		a.large = map[*byte]struct{}{}
	}
	a.large[unsafe.SliceData(b)] = struct{}{}
	return b
}

// Release gives everything back. What was given out is not to be used any more.
func (a *Arena) Release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.chunks {
		if c != nil {
			pool.put(c.base)
		}
	}
	a.chunks, a.spare, a.partial, a.bare, a.large = nil, spanList{}, [classes]spanList{}, 0, nil
	a.used.Store(0)
}

// newSpan makes a spare span one for pieces of a class.
func (a *Arena) newSpan(class uint8) *span {
	if a.spare.first == nil {
		a.addChunk()
	}
	s := a.spare.first
	a.spare.remove(s)
	if s.chunk.spare == chunkSpans {
		a.bare--
	}
	s.chunk.spare--
	s.divide(class)
	a.partial[class].add(s)
	return s
}

func (a *Arena) addChunk() {
	number := 0
	for number < len(a.chunks) && a.chunks[number] != nil {
		number++
	}
	if number == len(a.chunks) {
		a.chunks = append(a.chunks, nil)
	}
	c := &chunk{base: pool.get(), number: number, spare: chunkSpans}
	*(*uint32)(c.base) = uint32(number)
	for i := chunkSpans - 1; i >= 0; i-- {
		s := &c.spans[i]
		s.chunk, s.base = c, unsafe.Add(c.base, i*spanSize)
		a.spare.add(s)
	}
	a.chunks[number] = c
	a.bare++
}

// empty keeps a span that has no pieces any more for pieces of any size, unless it is the only one of its class; and gives a
// chunk back that has only such, unless there is no other.
func (a *Arena) empty(s *span) {
	if list := &a.partial[s.class]; list.first != s || s.next != nil {
		list.remove(s)
		s.size = 0
		a.spare.add(s)
		c := s.chunk
		if c.spare++; c.spare < chunkSpans {
			return
		}
		if a.bare++; a.bare > 1 {
			a.dropChunk(c)
		}
	}
}

func (a *Arena) dropChunk(c *chunk) {
	for i := range c.spans {
		a.spare.remove(&c.spans[i])
	}
	a.chunks[c.number] = nil
	a.bare--
	pool.put(c.base)
}
