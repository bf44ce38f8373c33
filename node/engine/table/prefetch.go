package table

import (
	"unsafe"

	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/node/engine"
)

// Head is what looking a key up touches of a Table, from its beginning on.
const Head = unsafe.Offsetof(Table{}.deepest)

// PrefetchMax is how many keys Prefetch looks up at most.
const PrefetchMax = 16

// Prefetch brings near what Find of keys at these positions will touch, and of those that it is asked for the
// value too. Each step asks for one thing for every key before the next step needs it, and the table has a handle of the entry then. A nil table is left out.
func Prefetch(tables []*Table, positions []engine.Position, uses []engine.Use) {
	n := min(len(tables), PrefetchMax)
	var (
		pages   [PrefetchMax]*page
		entries [PrefetchMax]*entry
	)
	for i, t := range tables[:n] {
		if t != nil && t.directory != nil {
			prefetch.Of(&t.directory[t.index(positions[i])])
		}
	}
	for i, t := range tables[:n] {
		if t != nil && t.size > 0 {
			pages[i] = t.page(positions[i])
			prefetch.Span(unsafe.Pointer(pages[i]), pageHead)
		}
	}
	for i, p := range pages[:n] {
		if p != nil && len(p.places) > 0 {
			p.prefetch(p.guess(positions[i]))
		}
	}
	for i, p := range pages[:n] {
		if p == nil {
			continue
		}
		if at := p.first(positions[i]); at < len(p.entries) {
			entries[i] = &p.entries[at]
			prefetch.Of(entries[i])
			if p.places[at].position() == positions[i] {
				tables[i].found = handle{positions[i], Ref{p, at}}
			}
		}
	}
	for i, e := range entries[:n] {
		if e == nil {
			continue
		}
		if e.keyLen > shortKey {
			prefetchBytes(pages[i].bytes(e.longKey()))
		}
		if uses[i] != engine.UseRecord {
			prefetchBytes(part(pages[i].bytes(e.value), uses[i]))
		}
	}
}

// around is how many places before and behind a guess are brought near: the guess is seldom farther off.
const around = 4

func (p *page) prefetch(guess int) {
	from, to := max(guess-around, 0), min(guess+around, len(p.places))
	places := p.places[from:to]
	prefetch.Span(unsafe.Pointer(unsafe.SliceData(places)), uintptr(len(places))*unsafe.Sizeof(place(0)))
}

// part returns what of a value is used: of one that is patched nothing else is read.
func part(value []byte, use engine.Use) []byte {
	if at, n, ok := use.Patches(); ok && at <= len(value)-n {
		return value[at : at+n]
	}
	return value
}

// longPrefix is how many bytes are brought near: a small hash, which is searched field by field, with a wait for each that is not near. That a longer value is read the
// processor notices by itself.
const longPrefix = 768

func prefetchBytes(b []byte) {
	prefetch.Span(unsafe.Pointer(unsafe.SliceData(b)), uintptr(min(len(b), longPrefix)))
}
