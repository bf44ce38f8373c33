package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

const (
	// pageSize is the number of entries at which a page is split.
	pageSize = 32
	// mergeSize is the number of entries up to which two halves are merged. It is
	// well below pageSize, or else a page could split and merge in turns.
	mergeSize = pageSize / 2
	// pageStep is the number of entries by which a page grows: small, because there
	// are very many pages.
	pageStep = 4
)

// page holds the entries whose positions have the same first depth bits, in order
// of position and then of key. The order of keys matters only where a client chose
// keys with one position to slow us down.
type page struct {
	places  []place // of the entries
	entries []entry
	heap    // what they refer to
	depth   uint8

	_ [32]byte // memory is given out in pieces of 128 bytes, which begin with a line of cache, but not of 96
}

// pageHead is what looking a key up touches of a page.
const pageHead = unsafe.Offsetof(page{}.depth) + 1

// start returns the first position of the page that pos belongs to.
func (p *page) start(pos engine.Position) engine.Position {
	return pos &^ (1<<(positionBits-p.depth) - 1)
}

// search returns the index of a key, or the one where it would have to be
// inserted. The empty key comes before all others of the position.
func (p *page) search(pos engine.Position, key []byte) (index int, found bool) {
	low := p.first(pos)
	if low == len(p.places) || p.places[low].position() != pos {
		return low, false
	}
	if string(p.key(low)) == string(key) {
		return low, true
	}
	for high := p.first(pos + 1); low < high; { // keys with the same position
		middle := int(uint(low+high) / 2)
		if string(p.key(middle)) < string(key) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(p.entries) && string(p.key(low)) == string(key)
}

// first returns the index of the first entry whose position is not below pos. In a
// short page it looks around where the position should be, which touches one or two lines of memory.
func (p *page) first(pos engine.Position) int {
	if len(p.places) > pageSize {
		i, _ := slices.BinarySearchFunc(p.places, pos, func(at place, pos engine.Position) int {
			return cmp.Compare(at.position(), pos)
		})
		return i
	}
	i := p.guess(pos)
	for i < len(p.places) && p.places[i].position() < pos {
		i++
	}
	for i > 0 && p.places[i-1].position() >= pos {
		i--
	}
	return i
}

// guess returns the index that first would return if the positions of the page were spread evenly, as
// those of most pages are but for a few entries.
func (p *page) guess(pos engine.Position) int {
	return int(uint64(pos-p.start(pos)) * uint64(len(p.places)) >> (positionBits - p.depth))
}

func (p *page) full() bool { return len(p.entries) >= pageSize }

// insert makes room for a new entry.
func (p *page) insert(index int, pos engine.Position, key []byte) {
	if len(p.entries) == cap(p.entries) {
		// A page beyond pageSize could not be split: it grows in proportion.
		room := max(pageStep, len(p.entries)/8)
		p.entries, p.places = fit(p.entries, room), fit(p.places, room)
	}
	e := entry{keyLen: uint32(len(key))}
	if len(key) <= shortKey {
		copy(e.short[:], key)
	} else {
		binary.LittleEndian.PutUint32(e.short[:], p.keepKey(key).at)
	}
	p.places = slices.Insert(p.places, index, place(pos)<<16)
	p.entries = slices.Insert(p.entries, index, e)
}

// keepKey adds a key to the heap.
func (p *page) keepKey(key []byte) piece {
	if len(key) > record.CopiedValue { // a shorter one is copied as a value is
		key = bytes.Clone(key)
	}
	return p.keep(key)
}

// remove takes an entry out and returns its record, of whose Value only the length is good.
func (p *page) remove(index int) record.Record {
	old, e := Ref{p, index}.Record(), p.entries[index]
	p.places = slices.Delete(p.places, index, index+1)
	p.entries = slices.Delete(p.entries, index, index+1)
	p.free(e.value)
	if e.keyLen > shortKey {
		p.free(e.longKey())
	}
	if cap(p.entries) > 2*(len(p.entries)+pageStep) {
		p.entries, p.places = fit(p.entries, pageStep), fit(p.places, pageStep)
		p.settle(0, p.heap)
	}
	return old
}

// split moves the upper half of the page that begins at start to a new page, and
// returns that and its own start.
func (p *page) split(start engine.Position) (upper *page, upperStart engine.Position) {
	p.depth++
	upperStart = start + 1<<(positionBits-p.depth)
	cut := p.first(upperStart)
	upper = &page{depth: p.depth, places: fit(p.places[cut:], pageStep), entries: fit(p.entries[cut:], pageStep)}
	p.places, p.entries = fit(p.places[:cut], pageStep), fit(p.entries[:cut], pageStep)
	upper.settle(0, p.heap)
	p.settle(0, p.heap)
	return upper, upperStart
}

// merge takes over the entries of the page's upper half.
func (p *page) merge(upper *page) {
	p.depth--
	cut := len(p.entries)
	p.places = append(fit(p.places, len(upper.places)), upper.places...)
	p.entries = append(fit(p.entries, len(upper.entries)), upper.entries...)
	lower := p.heap
	p.move(0, func(i int) *heap {
		if i < cut {
			return &lower
		}
		return &upper.heap
	})
}

// settle is move from one heap.
func (p *page) settle(room int, from heap) { p.move(room, func(int) *heap { return &from }) }

// move gives the page a new heap for what its entries have in others, with room for so many bytes more, and some beyond that.
func (p *page) move(room int, from func(i int) *heap) {
	size := room
	for i := range p.entries {
		e := &p.entries[i]
		size += e.value.nearSize()
		if e.keyLen > shortKey {
			size += e.longKey().nearSize()
		}
	}
	p.heap = heap{}
	if size > 0 {
		p.near = slices.Grow([]byte(nil), size+size/nearSlack)
	}
	for i := range p.entries {
		e := &p.entries[i]
		if e.keyLen > shortKey {
			binary.LittleEndian.PutUint32(e.short[:], p.take(from(i), e.longKey()).at)
		}
		e.value = p.take(from(i), e.value)
	}
}

// replace makes the value of an entry another one.
func (p *page) replace(e *entry, value []byte) {
	old := e.value
	if inPlace && old.nearSize() > 0 && old.nearSize() == rounded(len(value)) {
		copy(p.near[old.at:], value)
		e.value.n = uint32(len(value))
		return
	}
	value = unborrowed(value)
	p.free(old)
	e.value = piece{}
	e.value = p.keep(value)
}

// keep adds bytes to the page's heap, and makes room for them.
func (p *page) keep(b []byte) piece {
	if p.isNear(b) && len(p.near)+rounded(len(b)) > cap(p.near) {
		p.settle(rounded(len(b)), p.heap)
	}
	return p.add(b)
}

// fit copies a list to an array that has room for exactly so many more.
func fit[T any](list []T, room int) []T {
	return append(make([]T, 0, len(list)+room), list...)
}
