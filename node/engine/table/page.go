package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
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
//
// It may be in an arena: it refers to nothing on Go's heap that the table does not refer to, too.
type page struct {
	places  []place // of the entries
	entries []entry
	heap    // what they refer to
	depth   uint8
	*shared
	usages []eviction.Usage // of the entries, nil unless somebody has noted one

	_ [8]byte // memory is given out in pieces of 128 bytes, which begin with a line of cache, but not of 120
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

// newPage returns a page in the arena.
func newPage(p page) *page { return &append(take[page](p.arena, 1), p)[0] }

func (p *page) full() bool { return len(p.entries) >= pageSize }

// insert makes room for a new entry. It returns memory that is not used any more, which may have been borrowed.
func (p *page) insert(index int, pos engine.Position, key []byte) (former []byte) {
	// A page beyond pageSize could not be split: it grows in proportion.
	room := max(pageStep, len(p.entries)/8)
	if len(p.entries) == cap(p.entries) {
		p.entries = refit(p.arena, p.entries, room)
	}
	if len(p.places) == cap(p.places) {
		p.places = refit(p.arena, p.places, room)
	}
	e := entry{keyLen: uint32(len(key))}
	if len(key) <= shortKey {
		copy(e.short[:], key)
	} else {
		var at piece
		at, former = p.keepKey(key)
		p.arena.Lend(p.farSize(at))
		binary.LittleEndian.PutUint32(e.short[:], at.at)
	}
	p.places = slices.Insert(p.places, index, place(pos)<<16)
	p.entries = slices.Insert(p.entries, index, e)
	p.insertUsage(index, room)
	return former
}

// keepKey adds a key to the heap.
func (p *page) keepKey(key []byte) (at piece, former []byte) {
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
	p.removeUsage(index)
	p.arena.Lend(-p.farSizeOf(&e))
	p.free(e.value)
	if e.keyLen > shortKey {
		p.free(e.longKey())
	}
	if cap(p.entries) > 2*(len(p.entries)+pageStep) {
		p.entries, p.places, p.usages = refit(p.arena, p.entries, pageStep), refit(p.arena, p.places, pageStep), p.refitUsages(pageStep)
		release(p.arena, p.settle(0))
	}
	p.slim()
	return old
}

// slim gives back what is free of near, if that is most of it: what is deleted makes room for other pages at once. What is copied for it is less than what was freed.
func (p *page) slim() {
	if cap(p.near) > 2*p.live+nearSpare {
		release(p.arena, p.settle(0))
	}
}

// split moves the upper half of the page that begins at start to a new page, and returns that and its own start, and
// memory that is not used any more, which may have been borrowed.
func (p *page) split(start engine.Position) (upper *page, upperStart engine.Position, former []byte) {
	p.depth++
	upperStart = start + 1<<(positionBits-p.depth)
	cut := p.first(upperStart)
	upper = newPage(page{depth: p.depth, shared: p.shared, heap: p.heap, places: fit(p.arena, p.places[cut:], pageStep), entries: fit(p.arena, p.entries[cut:], pageStep)})
	places, entries := p.places, p.entries
	p.places, p.entries = fit(p.arena, places[:cut], pageStep), fit(p.arena, entries[:cut], pageStep)
	release(p.arena, places)
	release(p.arena, entries)
	upper.settle(0)
	p.splitUsages(cut, upper)
	return upper, upperStart, p.settle(0)
}

// merge takes over the entries of the page's upper half, and its memory.
func (p *page) merge(upper *page) {
	p.depth--
	cut := len(p.entries)
	p.mergeUsages(upper)
	p.places = append(refit(p.arena, p.places, len(upper.places)), upper.places...)
	p.entries = append(refit(p.arena, p.entries, len(upper.entries)), upper.entries...)
	lower := p.heap
	p.move(0, func(i int) *heap {
		if i < cut {
			return &lower
		}
		return &upper.heap
	})
	release(p.arena, lower.near)
	upper.drop()
}

// settle is move from the heap that the page had, of which it returns the memory that is not used any more.
func (p *page) settle(room int) (former []byte) {
	from := p.heap
	p.move(room, func(int) *heap { return &from })
	return from.near
}

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
		p.near = take[byte](p.arena, size+size/nearSlack)
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
func (p *page) replace(e *entry, st *record.State) {
	old, value := e.value, st.Value
	if st.Object == nil && !arena.Spoils && old.nearSize() > 0 && old.nearSize() == rounded(len(value)) {
		copy(p.near[old.at:], value)
		e.value.n = uint32(len(value))
		return
	}
	if arena.Spoils { // it may be part of what is given back next
		value = bytes.Clone(value)
	}
	before := p.farSize(old)
	p.free(old)
	e.value = piece{}
	if st.Object != nil {
		e.value = p.far.add(farValue{object: st.Object}, st.Object.Size())
	} else {
		var former []byte
		e.value, former = p.keep(value)
		release(p.arena, former)
	}
	p.arena.Lend(p.farSize(e.value) - before)
	p.slim()
}

// keep adds bytes to the page's heap, and makes room for them. It returns memory that is not used any more.
func (p *page) keep(b []byte) (at piece, former []byte) {
	if p.isNear(b) && len(p.near)+rounded(len(b)) > cap(p.near) {
		former = p.settle(rounded(len(b)))
	}
	return p.add(b), former
}

// empty gives the memory of the page's entries back, of which nothing is used any more.
func (p *page) empty() {
	release(p.arena, p.places)
	release(p.arena, p.entries)
	release(p.arena, p.usages)
	release(p.arena, p.near)
}

// drop is empty for a page that newPage has returned, which is given back, too.
func (p *page) drop() {
	p.empty()
	release(p.arena, unsafe.Slice(p, 1))
}

// bytes returns a piece, without spare capacity that an append could write to.
func (p *page) bytes(at piece) []byte {
	switch {
	case at.n == 0:
		return nil
	case at.at&isFar != 0:
		return slices.Clip(p.far.list[at.at&^isFar].bytes)
	}
	return p.heap.bytes(at)
}

// farSize returns how many bytes of memory of its own a piece takes.
func (p *page) farSize(at piece) int {
	if at.at&isFar == 0 {
		return 0
	}
	return p.far.list[at.at&^isFar].memory()
}

// object returns the object that a piece is, nil if it is bytes.
func (p *page) object(at piece) record.Object {
	if at.at&isFar == 0 {
		return nil
	}
	return p.far.list[at.at&^isFar].object
}

// add keeps bytes, in near if they belong there: there is room.
func (p *page) add(b []byte) piece {
	switch {
	case len(b) == 0:
		return piece{}
	case p.isNear(b):
		return p.heap.add(b)
	case len(b) <= record.CopiedValue: // it is borrowed
		b = bytes.Clone(b)
	}
	return p.far.add(farValue{bytes: b}, len(b))
}

// free gives a piece back.
func (p *page) free(at piece) {
	if at.at&isFar != 0 {
		p.far.remove(at)
		return
	}
	p.heap.free(at)
}
