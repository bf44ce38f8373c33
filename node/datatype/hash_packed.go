package datatype

import (
	"encoding/binary"

	"github.com/quolldb/quoll/internal/buffer"
)

// The value of a hash is packed: how many fields there are, then each field and its value in the order in which the fields came, as
// Redis has it for small hashes. All numbers are uvarints, and each field and each value has its length before it.
// A hash without fields does not exist.

// fieldCount returns how many fields a packed hash has.
func fieldCount(hash []byte) int {
	n, size := binary.Uvarint(hash)
	if size <= 0 || n > uint64(len(hash)) {
		return 0
	}
	return int(n)
}

// fields goes through a packed hash. What is damaged ends it.
type fields struct {
	hash []byte
	// start is where the current field begins, end where the next one does.
	start, end int
	// field and value are those of the current field, parts of hash.
	field, value []byte
}

// fieldsOf returns what goes through a packed hash, or through no hash.
func fieldsOf(hash []byte) fields {
	_, size := binary.Uvarint(hash)
	return fields{hash: hash, end: max(size, 0)}
}

// next goes to the next field, and reports whether there is one.
func (f *fields) next() bool {
	f.start = f.end
	var ok bool
	if f.field, f.end, ok = lengthened(f.hash, f.start); ok {
		f.value, f.end, ok = lengthened(f.hash, f.end)
	}
	return ok
}

// lengthened returns the bytes at a place that have their length before them, and what follows them.
func lengthened(b []byte, at int) (part []byte, end int, ok bool) {
	n, size := binary.Uvarint(b[at:])
	at += max(size, 0)
	if size <= 0 || n > uint64(len(b)-at) {
		return nil, len(b), false
	}
	end = at + int(n)
	return b[at:end:end], end, true
}

// validHash reports whether bytes from elsewhere are a packed hash.
func validHash(hash []byte) bool {
	var e edit
	n, f := fieldCount(hash), fieldsOf(hash)
	for range n {
		if !f.next() || e.find(f.field) >= 0 {
			return false
		}
		e.add(fieldChange{field: f.field})
	}
	return n > 0 && f.end == len(hash)
}

// fieldOf returns the value of a field.
func fieldOf(hash, field []byte) (value []byte, found bool) {
	for f := fieldsOf(hash); f.next(); {
		if string(f.field) == string(field) {
			return f.value, true
		}
	}
	return nil, false
}

// appendLengthened appends bytes with their length before them.
func appendLengthened(dst, part []byte) []byte {
	return buffer.Append(binary.AppendUvarint(dst, uint64(len(part))), part)
}

// lengthenedSize is how many bytes appendLengthened appends for n bytes.
func lengthenedSize(n int) int { return uvarintSize(n) + n }

func uvarintSize(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}
