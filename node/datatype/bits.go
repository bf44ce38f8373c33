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
	t := textIn(st)
	old := t.field(pos, 1)
	dst = appendBool(dst, old == 1)
	at := int(pos >> 3)
	if at < t.size() && old == uint64(bit) {
		return dst, noEffect
	}
	d := t.draft(at + 1)
	d.setField(pos, 1, uint64(bit))
	return dst, spliced(st, d.done(), at, at+1)
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
	return appendBool(dst, textIn(st).field(pos, 1) == 1), noEffect
}

// parseBitOffset reads the position of a field of the given width, which must end
// within a value of the longest length there may be.
func parseBitOffset(arg []byte, width, most int) (int64, bool) {
	pos, ok := parseInt(arg)
	return pos, ok && pos >= 0 && pos <= int64(most)*8-int64(width)
}

// longField is how many bytes a field of 64 bits is in, wherever it begins.
const longField = 9

// field returns width bits (64 at most) at position pos. Beyond the end all bits are 0.
func (t text) field(pos int64, width int) uint64 {
	if t.rope == nil {
		return readField(t.bytes, pos, width)
	}
	var room [longField]byte
	from := int(pos >> 3)
	return readField(t.rope.AppendRange(room[:0], from, from+longField), pos&7, width)
}

// setField sets width bits at position pos, which are within what the draft is to have, to the low bits of field.
func (d *draft) setField(pos int64, width int, field uint64) {
	if d.rope == nil {
		writeField(d.bytes, pos, width, field)
		return
	}
	var room [longField]byte
	from, to := int(pos>>3), endByte(pos, width)
	d.rope.AppendRange(room[:0], from, to)
	writeField(room[:], pos&7, width, field)
	d.write(from, room[:to-from])
}

// endByte returns the length of a value that a field just fits into.
func endByte(pos int64, width int) int { return int((pos+int64(width)-1)>>3) + 1 }

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
