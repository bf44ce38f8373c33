package table

import (
	"unsafe"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// entry is a key and its record but for the type, in 64 bytes: one cache line. A node
// holds one for every key, in arrays, so that a key costs one object of its own for
// the garbage collector besides its value.
type entry struct {
	key      string
	version  record.Version
	expireAt int64
	// value is the bytes of the record's value. A string has no capacity, which
	// saves 8 bytes, and says that nobody changes it.
	value string
}

// place is an entry's position in the upper 48 bits, the marks that the owner of the
// table has put on it in the next 8, and the type of its record in the lowest 8. Places
// have an array of their own: a search reads little else.
type place uint64

const marksShift = 8

func (p place) position() engine.Position { return engine.Position(p >> 16) }

// Ref refers to an entry of a page, until the page changes.
type Ref struct {
	page  *page
	index int
}

// Key returns the entry's key.
func (r Ref) Key() string { return r.page.entries[r.index].key }

// Position returns the entry's position.
func (r Ref) Position() engine.Position { return r.page.places[r.index].position() }

// Set stores a record and keeps the marks. It takes over the record's Value.
func (r Ref) Set(rec record.Record) {
	at, e := &r.page.places[r.index], &r.page.entries[r.index]
	*at = *at&^0xff | place(rec.State.Type)
	e.version = rec.Version
	e.expireAt = rec.State.ExpireAt
	e.value = asString(rec.State.Value)
}

// Marks returns the marks that Mark has put on the entry, zero at first.
func (r Ref) Marks() uint8 { return uint8(r.page.places[r.index] >> marksShift) }

// Mark replaces the entry's marks, which mean nothing to the table.
func (r Ref) Mark(marks uint8) {
	at := &r.page.places[r.index]
	*at = *at&^(0xff<<marksShift) | place(marks)<<marksShift
}

// Record returns the entry's record. Its Value is immutable.
func (r Ref) Record() record.Record {
	at, e := r.page.places[r.index], &r.page.entries[r.index]
	return record.Record{
		Version: e.version,
		State:   record.State{Type: record.Type(at), ExpireAt: e.expireAt, Value: asBytes(e.value)},
	}
}

// asString and asBytes convert without a copy. That is sound because a value never
// changes once it is part of a state, and what asBytes returns has no spare
// capacity that an append could write to.

func asString(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func asBytes(s string) []byte {
	if s == "" {
		return nil
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
