package parts

import (
	"encoding/binary"

	"github.com/quolldb/quoll/internal/buffer"
)

// Next reads the item of packed items that begins at a place. end is where the next one begins. It reports false at the end, and
// for what is damaged. key and value are parts of packed.
func Next(packed []byte, at int) (key, value []byte, end int, ok bool) {
	// Most lengths are one byte: this is what searching a part or a packed hash is.
	if at < len(packed) && packed[at] < 0x80 {
		if mid := at + 1 + int(packed[at]); mid < len(packed) && packed[mid] < 0x80 {
			if end = mid + 1 + int(packed[mid]); end <= len(packed) {
				return packed[at+1 : mid : mid], packed[mid+1 : end : end], end, true
			}
		}
	}
	if key, end, ok = Lengthened(packed, at); ok {
		value, end, ok = Lengthened(packed, end)
	}
	return key, value, end, ok
}

// Find looks a key up in packed items, from the one on that begins at a place, and returns its value, and where its item begins and ends.
func Find(packed []byte, at int, key []byte) (value []byte, start, end int, found bool) {
	for at < len(packed) {
		k, v, next, ok := Next(packed, at)
		if ok && string(k) == string(key) {
			return v, at, next, true
		}
		if at = next; !ok {
			break
		}
	}
	return nil, 0, 0, false
}

// Lengthened returns the bytes at a place that have their length before them, and where they end.
func Lengthened(b []byte, at int) (part []byte, end int, ok bool) {
	if at < len(b) && b[at] < 0x80 { // as most lengths are
		if end = at + 1 + int(b[at]); end <= len(b) {
			return b[at+1 : end : end], end, true
		}
		return nil, len(b), false
	}
	n, size := binary.Uvarint(b[at:])
	at += max(size, 0)
	if size <= 0 || n > uint64(len(b)-at) {
		return nil, len(b), false
	}
	end = at + int(n)
	return b[at:end:end], end, true
}

// AppendItem appends an item, packed.
func AppendItem(dst, key, value []byte) []byte {
	return AppendLengthened(AppendLengthened(dst, key), value)
}

// AppendLengthened appends bytes with their length before them.
func AppendLengthened(dst, part []byte) []byte {
	return buffer.Append(binary.AppendUvarint(dst, uint64(len(part))), part)
}

// ItemSize is how many bytes AppendItem appends.
func ItemSize(key, value []byte) int { return LengthenedSize(len(key)) + LengthenedSize(len(value)) }

// LengthenedSize is how many bytes AppendLengthened appends for n bytes.
func LengthenedSize(n int) int { return UvarintSize(n) + n }

// UvarintSize is how many bytes a number takes.
func UvarintSize(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}
