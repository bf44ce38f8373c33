package arena

import "unsafe"

// sizes are those of pieces, in ascending order. Most are multiples of a line of cache, and small ones are many: what a table asks for is a
// few, and grows by little.
var sizes = func() (sizes []uint32) {
	sizes = append(sizes, grain)
	for n := uint32(64); n <= 1024; n += 64 {
		sizes = append(sizes, n)
	}
	for n := uint32(1280); n <= 2560; n += 256 {
		sizes = append(sizes, n)
	}
	for _, n := range []uint32{21, 18, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2} { // in a span
		sizes = append(sizes, spanSize/n&^63)
	}
	return sizes
}()

const (
	classes = 37
	grain   = 32
	// largest is the size of the largest piece. What is larger is memory of Go's heap.
	largest = spanSize / 2
)

// classFor is the class for so many grains.
var classFor = func() (table [largest/grain + 1]uint8) {
	class := uint8(0)
	for i := range table {
		for sizes[class] < uint32(i*grain) {
			class++
		}
		table[i] = class
	}
	return table
}()

// divide makes a span one for pieces of a class.
func (s *span) divide(class uint8) {
	s.class, s.size = class, sizes[class]
	begin := uintptr(0)
	s.base = unsafe.Add(s.chunk.base, s.number()*spanSize)
	if s.number() == 0 {
		begin = header
		s.base = unsafe.Add(s.base, header)
	}
	s.room = uint32(spanSize-begin) / s.size
	s.used, s.fresh, s.free = 0, 0, 0
}

func (s *span) number() int {
	return int(uintptr(unsafe.Pointer(s))-uintptr(unsafe.Pointer(&s.chunk.spans[0]))) / int(unsafe.Sizeof(span{}))
}

// take gives a piece out: there is one.
func (s *span) take() unsafe.Pointer {
	s.used++
	if s.free == 0 {
		s.fresh++
		return unsafe.Add(s.base, uintptr(s.fresh-1)*uintptr(s.size))
	}
	piece := unsafe.Add(s.base, uintptr(s.free-1)*uintptr(s.size))
	s.free = *(*uint32)(piece)
	return piece
}

// give takes a piece back.
func (s *span) give(piece unsafe.Pointer) {
	s.used--
	*(*uint32)(piece) = s.free
	s.free = uint32(uintptr(piece)-uintptr(s.base))/s.size + 1
}

// spanList is a list of spans, of which each is in one.
type spanList struct{ first *span }

func (l *spanList) add(s *span) {
	s.prev, s.next = nil, l.first
	if l.first != nil {
		l.first.prev = s
	}
	l.first = s
}

func (l *spanList) remove(s *span) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.next, s.prev = nil, nil
}
