package memory

import (
	"unsafe"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// entry is a key and its record, packed into 72 bytes instead of 88. A node holds
// one for every key, in arrays, so that a key costs one object of its own for the
// garbage collector besides its value.
type entry struct {
	// place is the position in the upper 48 bits and the type in the lowest 8.
	place    uint64
	key      string
	version  record.Version
	expireAt int64
	// value is the bytes of the record's value. A string has no capacity, which
	// saves 8 bytes, and says that nobody changes it.
	value string
}

func (e *entry) position() engine.Position { return engine.Position(e.place >> 16) }

func (e *entry) set(rec record.Record) {
	e.place = e.place&^0xff | uint64(rec.State.Type)
	e.version = rec.Version
	e.expireAt = rec.State.ExpireAt
	e.value = asString(rec.State.Value)
}

func (e *entry) record() record.Record {
	return record.Record{
		Version: e.version,
		State:   record.State{Type: record.Type(e.place), ExpireAt: e.expireAt, Value: asBytes(e.value)},
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
