// Package table is what engines keep records in while they are in memory: a hash table
// that is ordered by engine.Position, so that a scan can begin anywhere and stop anywhere
// at no cost, however large the table is and however it grows meanwhile. Memory per entry
// beside its value: 72 bytes, which may include the key, and a page's slack.
package table

import (
	"math/bits"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
)

// positionBits is the number of bits of a Position.
const positionBits = 48

// doubleAt is how many entries there must be to each pointer of the directory
// before it may double. Pages of evenly spread keys overflow long before that; it
// keeps keys with similar positions, which a hostile client can choose, from
// blowing up the directory. Their page just grows instead.
const doubleAt = 8

// Table is an extendible hash table (Fagin and others, 1979) that keeps its
// entries in order of position. The first depth bits of a position are the index
// into the directory, which points to the page that has all entries with certain
// first bits. A page that is full is split by one more bit; only if that takes more
// bits than the directory uses does the directory double, and it is nothing but
// pointers: no operation touches more than a few pages of entries. Pages merge
// again when entries go.
//
//	directory (depth 2)     pages
//	00  ────────────────┬─> 0   ···  (depth 1)
//	01  ────────────────┘
//	10  ──────────────────> 10  ···  (depth 2)
//	11  ──────────────────> 11  ···  (depth 2)
//
// Most tables are small: their only page is part of the table itself, and there is
// no directory.
type Table struct {
	size      uint32
	depth     uint8
	directory []*page
	found     handle
	// deepest counts the pages of the directory's own depth. While there is none,
	// the directory could be half as long.
	deepest int
	root    page // while there is no directory
	// former is memory that may still be borrowed, until the table changes next.
	former [][]byte
}

// Make returns an empty table that takes its memory from an arena. Only Clear gives all of it back.
func Make(a *arena.Arena) Table { return Table{root: page{shared: &shared{arena: a}}} }

// Another returns an empty table of the same arena.
func (t *Table) Another() Table { return Make(t.root.arena) }

// Clear removes all entries, and gives their memory back.
func (t *Table) Clear() {
	t.forget()
	t.root.forgetFar()
	t.root.empty()
	for i := 0; i < len(t.directory); {
		p := t.directory[i]
		i += 1 << (t.depth - p.depth)
		p.drop()
	}
	*t = Table{root: page{shared: t.root.shared}}
}

// Replace removes all entries, and takes over those of another table of the same arena, which is not used any more.
func (t *Table) Replace(by *Table) {
	t.Clear()
	*t = *by
	t.found = handle{} // it may be in what was the other one
}

// forget gives back what was not used any more after the last change. Entries are about to move.
func (t *Table) forget() {
	t.found = handle{}
	for _, memory := range t.former {
		release(t.root.arena, memory)
	}
	t.former = nil
}

// retire keeps memory until the table changes next: who is about to store what is in it has borrowed it.
func (t *Table) retire(former []byte) {
	if cap(former) > 0 && t.root.arena != nil {
		t.former = append(t.former, former)
	}
}

// Len returns the number of entries.
func (t *Table) Len() int { return int(t.size) }

// page returns the page that a position belongs to.
func (t *Table) page(pos engine.Position) *page {
	if t.directory == nil {
		return &t.root
	}
	return t.directory[t.index(pos)]
}

// index returns the place of a position in the directory.
func (t *Table) index(pos engine.Position) engine.Position { return pos >> (positionBits - t.depth) }

// Find returns the entry of a key, if there is one. It is valid until the table
// changes.
func (t *Table) Find(pos engine.Position, key []byte) (e Ref, found bool) {
	if t.found.is(pos, key) {
		return t.found.Ref, true
	}
	if t.size == 0 {
		return Ref{}, false
	}
	p := t.page(pos)
	i, found := p.search(pos, key)
	if found {
		t.found = handle{pos, Ref{p, i}}
	}
	return Ref{p, i}, found
}

// Upsert returns the entry of a key, a new one if there was none. It is valid until
// the table changes.
func (t *Table) Upsert(pos engine.Position, key []byte) (e Ref, found bool) {
	if t.found.is(pos, key) {
		return t.found.Ref, true
	}
	p := t.page(pos)
	i, found := p.search(pos, key)
	if found {
		t.found = handle{pos, Ref{p, i}}
		return t.found.Ref, true
	}
	t.forget()
	if p.full() && t.directory == nil {
		p = t.branch()
	}
	for p.full() && t.split(p, pos) {
		p = t.page(pos)
		i, _ = p.search(pos, key)
	}
	t.size++
	t.retire(p.insert(i, pos, key))
	t.found = handle{pos, Ref{p, i}}
	return t.found.Ref, false
}

// branch gives the table a directory, with the page that it had as the only one.
func (t *Table) branch() *page {
	p := newPage(t.root)
	t.root, t.directory, t.deepest = page{shared: p.shared}, []*page{p}, 1
	return p
}

// Remove removes the entry of a key and returns its record.
func (t *Table) Remove(pos engine.Position, key []byte) (old record.Record, found bool) {
	if t.size == 0 {
		return record.Record{}, false
	}
	p := t.page(pos)
	i, found := p.search(pos, key)
	if !found {
		return record.Record{}, false
	}
	t.forget()
	old = p.remove(i)
	t.size--
	if t.size == 0 {
		t.Clear()
		return old, true
	}
	for t.merge(pos) {
	}
	for t.halve() {
	}
	return old, true
}

// Ascend visits the entries in order of position, starting at from, until visit
// returns false.
func (t *Table) Ascend(from engine.Position, visit func(Ref) bool) {
	for t.size > 0 && from < engine.EndPosition {
		p := t.page(from)
		for i := p.first(from); i < len(p.entries); i++ {
			if !visit(Ref{p, i}) {
				return
			}
		}
		from = p.start(from) + 1<<(positionBits-p.depth)
	}
}

// split splits the page of a position in two and reports whether it could.
func (t *Table) split(p *page, pos engine.Position) bool {
	if p.depth == t.depth && !t.double() {
		return false
	}
	upper, start, former := p.split(p.start(pos))
	t.retire(former)
	t.point(upper, start)
	if p.depth == t.depth {
		t.deepest += 2
	}
	return true
}

// merge merges the page of a position with its other half and reports whether it
// did.
func (t *Table) merge(pos engine.Position) bool {
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
func (t *Table) point(p *page, start engine.Position) {
	first := t.index(start)
	for i := range engine.Position(1) << (t.depth - p.depth) {
		t.directory[first+i] = p
	}
}

// double makes the directory use one more bit and reports whether it did.
func (t *Table) double() bool {
	if t.Len() < doubleAt*len(t.directory) {
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
func (t *Table) halve() bool {
	if t.deepest > 0 || 2*t.Len() > len(t.directory) {
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
