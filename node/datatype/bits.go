package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// Bits are numbered from the most significant bit of the first byte.

// setBit serves SETBIT. Setting a bit to what it is has no effect.
func setBit(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	pos, ok := parseBitOffset(req.Args[2], 1, longest(req))
	if !ok {
		return refuse(dst, errBitOffset)
	}
	bit, ok := parseInt(req.Args[3])
	if !ok || bit != 0 && bit != 1 {
		return refuse(dst, errBitValue)
	}
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	old := readField(st.Value, pos, 1)
	dst = appendBool(dst, old == 1)
	at := int(pos >> 3)
	if at < len(st.Value) && old == uint64(bit) {
		return dst, noEffect
	}
	value := resized(st.Value, max(len(st.Value), at+1))
	writeField(value, pos, 1, uint64(bit))
	return dst, spliced(st, value, at, at+1)
}

// getBit serves GETBIT.
func getBit(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	pos, ok := parseBitOffset(req.Args[2], 1, longest(req))
	if !ok {
		return refuse(dst, errBitOffset)
	}
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	return appendBool(dst, readField(st.Value, pos, 1) == 1), noEffect
}

// parseBitOffset reads the position of a field of the given width, which must end
// within a value of the longest length there may be.
func parseBitOffset(arg []byte, width, most int) (int64, bool) {
	pos, ok := parseInt(arg)
	return pos, ok && pos >= 0 && pos <= int64(most)*8-int64(width)
}

// readField returns width bits (64 at most) at position pos. Beyond the end of the
// value all bits are 0.
func readField(value []byte, pos int64, width int) uint64 {
	var field uint64
	for i := range int64(width) {
		field <<= 1
		if at := (pos + i) >> 3; at < int64(len(value)) {
			field |= uint64(value[at]>>(7-(pos+i)&7)) & 1
		}
	}
	return field
}

// writeField sets width bits at position pos, which must be within the value, to the
// low bits of field.
func writeField(value []byte, pos int64, width int, field uint64) {
	for i := range int64(width) {
		at, mask := (pos+i)>>3, byte(0x80)>>((pos+i)&7)
		if field>>(int64(width)-1-i)&1 == 1 {
			value[at] |= mask
		} else {
			value[at] &^= mask
		}
	}
}
