package datatype

import (
	"encoding/binary"
	"iter"

	"github.com/quolldb/quoll/node/datatype/parts"
)

// The entries of a stream mostly have the same few fields. The names that entries have had before are kept once, under a number (a schema), and what an entry has is the number and its values. Redis does so
// for the entries of each node of its tree. The value of an entry is
//
//	the number of a schema, and each value with its length before it; or
//	0, and each name and value with its length before it.
//
// A schema is made when an entry has the fields of one of those just before it, so names that are there once make none. It is never changed, and goes with the stream.

// mostSchemas is how many schemas a stream has: an entry with other fields has their names.
const mostSchemas = 16

// lookedBack is how many of the last entries are compared with one that is added: types of entries take turns.
const lookedBack = 4

// schemaKey is the key of a schema, behind that of the header. Its value has the names, each with its length before it.
func schemaKey(number int) []byte { return []byte{aboutStream, byte(number)} }

// schemaNumber returns which schema an element is, 0 if it is none.
func schemaNumber(key []byte) int {
	if len(key) == 2 && key[0] == aboutStream {
		return int(key[1])
	}
	return 0
}

// entryFields are the fields and values of an entry. They are borrowed.
type entryFields struct {
	names  []byte // of the schema; nil: they are with the values
	values []byte
}

// fieldsIn returns the fields that the value of an entry has. names returns those of a schema.
func fieldsIn(value []byte, names func(schema int) []byte) entryFields {
	schema, size := binary.Uvarint(value)
	f := entryFields{values: value[max(size, 0):]}
	if schema > 0 && schema <= mostSchemas {
		f.names = names(int(schema))
	}
	return f
}

// pieces goes through names and values, in turn.
func (f entryFields) pieces() iter.Seq[[]byte] {
	if f.names == nil {
		return pieces(f.values)
	}
	return func(yield func([]byte) bool) {
		for name, at := 0, 0; name < len(f.names) && at < len(f.values); {
			var piece []byte
			if piece, name, _ = parts.Lengthened(f.names, name); !yield(piece) {
				return
			}
			if piece, at, _ = parts.Lengthened(f.values, at); !yield(piece) {
				return
			}
		}
	}
}

// count returns how many pieces there are.
func (f entryFields) count() (n int) {
	n = countPieces(f.values)
	if f.names != nil {
		n *= 2
	}
	return n
}

// pieces goes through bytes that have their lengths before them.
func pieces(packed []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := 0; at < len(packed); {
			piece, end, ok := parts.Lengthened(packed, at)
			if !ok || !yield(piece) {
				return
			}
			at = end
		}
	}
}

// countPieces returns how many bytes with their lengths there are, 0 if there is anything else.
func countPieces(packed []byte) (n int) {
	for at := 0; at < len(packed); n++ {
		_, end, ok := parts.Lengthened(packed, at)
		if !ok {
			return 0
		}
		at = end
	}
	return n
}

// isEntryValue reports whether a value is one of an entry. names returns those of a schema, nil if there is none.
func isEntryValue(value []byte, names func(schema int) []byte) bool {
	schema, size := binary.Uvarint(value)
	if size <= 0 || schema > mostSchemas {
		return false
	}
	n := countPieces(value[size:])
	if schema == 0 {
		return n > 0 && n%2 == 0
	}
	return n > 0 && n == countPieces(names(int(schema)))
}

// haveNames reports whether fields, of which the names are with the values, have these names.
func haveNames(inline, names []byte) bool {
	at := 0
	for from := 0; from < len(inline); {
		name, mid, _ := parts.Lengthened(inline, from)
		other, end, ok := parts.Lengthened(names[at:], 0)
		if !ok || string(name) != string(other) {
			return false
		}
		at += end
		_, from, _ = parts.Lengthened(inline, mid)
	}
	return at == len(names)
}

// appendEverySecond appends the names, or the values, of fields that have both.
func appendEverySecond(dst, inline []byte, values bool) []byte {
	for at := 0; at < len(inline); {
		_, mid, _ := parts.Lengthened(inline, at)
		_, end, _ := parts.Lengthened(inline, mid)
		if values {
			dst = append(dst, inline[mid:end]...)
		} else {
			dst = append(dst, inline[at:mid]...)
		}
		at = end
	}
	return dst
}
