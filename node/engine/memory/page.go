package memory

import (
	"slices"

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
	entries []entry
	depth   uint8
}

// start returns the first position of the page that pos belongs to.
func (p *page) start(pos engine.Position) engine.Position {
	return pos &^ (1<<(positionBits-p.depth) - 1)
}

// search returns the index of a key, or the one where it would have to be
// inserted. The empty key comes before all others of the position.
func (p *page) search(pos engine.Position, key []byte) (index int, found bool) {
	low, high := 0, len(p.entries)
	for low < high {
		middle := int(uint(low+high) / 2)
		e := &p.entries[middle]
		if at := e.position(); at < pos || at == pos && e.key < string(key) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(p.entries) {
		return low, false
	}
	e := &p.entries[low]
	return low, e.position() == pos && e.key == string(key)
}

func (p *page) full() bool { return len(p.entries) >= pageSize }

func (p *page) insert(index int, e entry) {
	if len(p.entries) == cap(p.entries) {
		// A page beyond pageSize could not be split: it grows in proportion.
		p.entries = fit(p.entries, max(pageStep, len(p.entries)/8))
	}
	p.entries = slices.Insert(p.entries, index, e)
}

func (p *page) remove(index int) entry {
	e := p.entries[index]
	p.entries = slices.Delete(p.entries, index, index+1)
	if cap(p.entries) > 2*(len(p.entries)+pageStep) {
		p.entries = fit(p.entries, pageStep)
	}
	return e
}

// split moves the upper half of the page that begins at start to a new page, and
// returns that and its own start.
func (p *page) split(start engine.Position) (upper *page, upperStart engine.Position) {
	p.depth++
	upperStart = start + 1<<(positionBits-p.depth)
	cut, _ := p.search(upperStart, nil)
	upper = &page{depth: p.depth, entries: fit(p.entries[cut:], pageStep)}
	p.entries = fit(p.entries[:cut], pageStep)
	return upper, upperStart
}

// merge takes over the entries of the page's upper half.
func (p *page) merge(upper *page) {
	p.depth--
	p.entries = append(fit(p.entries, len(upper.entries)), upper.entries...)
}

// fit copies entries to an array that has room for exactly so many more.
func fit(entries []entry, room int) []entry {
	return append(make([]entry, 0, len(entries)+room), entries...)
}
