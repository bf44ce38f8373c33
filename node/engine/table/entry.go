package table

import (
	"encoding/binary"
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
)

// entry is a key and its record but for the type, in 64 bytes: one cache line. It has no pointers, so that the
// garbage collector, which would have to look at every key, looks at pages only.
type entry struct {
	version  record.Version
	expireAt int64
	value    piece
	keyLen   uint32
	// short is the key or, if that is longer, begins with where in the page it is.
	short [shortKey]byte
}

// shortKey is the length up to which a key is in its entry.
const shortKey = 20

// longKey returns the key of an entry that does not have it itself.
func (e *entry) longKey() piece { return piece{binary.LittleEndian.Uint32(e.short[:]), e.keyLen} }

// farSizeOf returns how many bytes of memory of their own the key and value of an entry take.
func (p *page) farSizeOf(e *entry) int {
	if e.keyLen > shortKey {
		return p.farSize(e.value) + p.farSize(e.longKey())
	}
	return p.farSize(e.value)
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

// Key returns a copy of the entry's key.
func (r Ref) Key() string { return string(r.page.key(r.index)) }

// AppendKey appends the entry's key.
func (r Ref) AppendKey(dst []byte) []byte { return append(dst, r.page.key(r.index)...) }

// HasKey reports whether the entry's key is this one.
func (r Ref) HasKey(key []byte) bool { return string(r.page.key(r.index)) == string(key) }

// Size returns the length of the entry's key and value.
func (r Ref) Size() int {
	e := &r.page.entries[r.index]
	return int(e.keyLen) + int(e.value.n)
}

// Memory is Size with what an object takes, which is more than its length.
func (r Ref) Memory() int {
	if o := r.page.object(r.page.entries[r.index].value); o != nil {
		return int(r.page.entries[r.index].keyLen) + o.Memory()
	}
	return r.Size()
}

// Position returns the entry's position.
func (r Ref) Position() engine.Position { return r.page.places[r.index].position() }

// Set stores a record and keeps the marks. It copies a Value of up to record.CopiedValue bytes, and takes over a longer one.
func (r Ref) Set(rec record.Record) {
	at, e := &r.page.places[r.index], &r.page.entries[r.index]
	*at = *at&^0xff | place(rec.State.Type)
	e.version = rec.Version
	e.expireAt = rec.State.ExpireAt
	r.page.replace(e, &rec.State)
}

// Patch makes the record another version, and patches its value, which the patch is of. The marks stay.
func (r Ref) Patch(version record.Version, p record.Patch) {
	e := &r.page.entries[r.index]
	e.version = version
	if arena.Spoils { // whoever has borrowed the value is to find out
		st := p.Of(r.Record().State, nil)
		r.page.replace(e, &st)
		return
	}
	copy(r.Record().State.Value[p.At:], p.Bytes)
}

// Marks returns the marks that Mark has put on the entry, zero at first.
func (r Ref) Marks() uint8 { return uint8(r.page.places[r.index] >> marksShift) }

// Mark replaces the entry's marks, which mean nothing to the table.
func (r Ref) Mark(marks uint8) {
	at := &r.page.places[r.index]
	*at = *at&^(0xff<<marksShift) | place(marks)<<marksShift
}

// Record returns the entry's record. A Value of up to record.CopiedValue bytes is borrowed, until the table changes; a
// longer one is immutable.
func (r Ref) Record() record.Record {
	at, e := r.page.places[r.index], &r.page.entries[r.index]
	if e.value.at&isFar != 0 {
		far := &r.page.far.list[e.value.at&^isFar]
		return record.Record{
			Version: e.version,
			State:   record.State{Type: record.Type(at), ExpireAt: e.expireAt, Value: slices.Clip(far.bytes), Object: far.object},
		}
	}
	return record.Record{
		Version: e.version,
		State:   record.State{Type: record.Type(at), ExpireAt: e.expireAt, Value: r.page.bytes(e.value)},
	}
}

// key returns the key of an entry. It is borrowed until the page changes.
func (p *page) key(i int) []byte {
	e := &p.entries[i]
	if e.keyLen <= shortKey {
		return e.short[:e.keyLen]
	}
	return p.bytes(e.longKey())
}
