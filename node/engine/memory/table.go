package memory

import (
	"math/bits"

	"github.com/quolldb/quoll/node/engine"
)

// positionBits is the number of bits of a Position.
const positionBits = 48

// doubleAt is how many entries there must be to each pointer of the directory
// before it may double. Pages of evenly spread keys overflow long before that; it
// keeps keys with similar positions, which a hostile client can choose, from
// blowing up the directory. Their page just grows instead.
const doubleAt = 8

// table is an extendible hash table (Fagin and others, 1979) that keeps its
// entries in order of position. The first depth bits of a position are the index
// into the directory, which points to the page that has all entries with certain
// first bits. A page that is full is split by one more bit; only if that takes more
// bits than the directory uses does the directory double, and it is nothing but
// pointers: no operation touches more than a few pages of entries. Pages merge
// again when entries go. The zero table is empty.
//
//	directory (depth 2)     pages
//	00  ────────────────┬─> 0   ···  (depth 1)
//	01  ────────────────┘
//	10  ──────────────────> 10  ···  (depth 2)
//	11  ──────────────────> 11  ···  (depth 2)
type table struct {
	directory []*page
	size      int
	// deepest counts the pages of the directory's own depth. While there is none,
	// the directory could be half as long.
	deepest int
	depth   uint8
}

// page returns the page that a position belongs to. The directory must not be
// empty.
func (t *table) page(pos engine.Position) *page {
	return t.directory[pos>>(positionBits-t.depth)]
}

// find returns the entry of a key, nil if there is none. It is valid until the
// table changes.
func (t *table) find(pos engine.Position, key []byte) *entry {
	if t.size == 0 {
		return nil
	}
	p := t.page(pos)
	i, found := p.search(pos, key)
	if !found {
		return nil
	}
	return &p.entries[i]
}

// upsert returns the entry of a key, a new one if there was none. It is valid until
// the table changes.
func (t *table) upsert(pos engine.Position, key []byte) (e *entry, found bool) {
	if t.size == 0 {
		t.directory = []*page{{}}
		t.deepest = 1
	}
	p := t.page(pos)
	i, found := p.search(pos, key)
	if found {
		return &p.entries[i], true
	}
	for p.full() && t.split(p, pos) {
		p = t.page(pos)
		i, _ = p.search(pos, key)
	}
	t.size++
	p.insert(i, entry{place: uint64(pos) << 16, key: string(key)})
	return &p.entries[i], false
}

// remove removes the entry of a key and returns it.
func (t *table) remove(pos engine.Position, key []byte) (e entry, found bool) {
	if t.size == 0 {
		return entry{}, false
	}
	p := t.page(pos)
	i, found := p.search(pos, key)
	if !found {
		return entry{}, false
	}
	e = p.remove(i)
	t.size--
	if t.size == 0 {
		*t = table{}
		return e, true
	}
	for t.merge(pos) {
	}
	for t.halve() {
	}
	return e, true
}

// ascend visits the entries in order of position, starting at from, until visit
// returns false.
func (t *table) ascend(from engine.Position, visit func(*entry) bool) {
	for t.size > 0 && from < engine.EndPosition {
		p := t.page(from)
		i, _ := p.search(from, nil)
		for ; i < len(p.entries); i++ {
			if !visit(&p.entries[i]) {
				return
			}
		}
		from = p.start(from) + 1<<(positionBits-p.depth)
	}
}

// split splits the page of a position in two and reports whether it could.
func (t *table) split(p *page, pos engine.Position) bool {
	if p.depth == t.depth && !t.double() {
		return false
	}
	upper, start := p.split(p.start(pos))
	t.point(upper, start)
	if p.depth == t.depth {
		t.deepest += 2
	}
	return true
}

// merge merges the page of a position with its other half and reports whether it
// did.
func (t *table) merge(pos engine.Position) bool {
	lower := t.page(pos)
	if lower.depth == 0 {
		return false
	}
	start := lower.start(pos)
	half := engine.Position(1) << (positionBits - lower.depth)
	upper := t.page(start ^ half)
	if start&half != 0 {
		lower, upper = upper, lower
		start ^= half
	}
	if lower.depth != upper.depth || len(lower.entries)+len(upper.entries) > mergeSize {
		return false
	}
	if lower.depth == t.depth {
		t.deepest -= 2
	}
	lower.merge(upper)
	t.point(lower, start)
	return true
}

// point makes the directory point to a page wherever it should; start is the
// page's first position.
func (t *table) point(p *page, start engine.Position) {
	first := start >> (positionBits - t.depth)
	for i := range engine.Position(1) << (t.depth - p.depth) {
		t.directory[first+i] = p
	}
}

// double makes the directory use one more bit and reports whether it did.
func (t *table) double() bool {
	if t.size < doubleAt*len(t.directory) {
		return false
	}
	doubled := make([]*page, 2*len(t.directory))
	for i, p := range t.directory {
		doubled[2*i], doubled[2*i+1] = p, p
	}
	t.directory = doubled
	t.depth++
	t.deepest = 0
	return true
}

// halve makes the directory use one bit less, if no page needs it and there are
// hardly any entries left, and reports whether it did.
func (t *table) halve() bool {
	if t.deepest > 0 || 2*t.size > len(t.directory) {
		return false
	}
	halved := make([]*page, len(t.directory)/2)
	t.depth = uint8(bits.Len(uint(len(halved)))) - 1
	for i := range halved {
		halved[i] = t.directory[2*i]
		if halved[i].depth == t.depth {
			t.deepest++
		}
	}
	t.directory = halved
	return true
}
