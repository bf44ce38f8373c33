package datatype

import (
	"bytes"
	"encoding/binary"

	"github.com/quolldb/quoll/node/datatype/parts"
)

// Most of what is done to streams is to add an entry behind all others. One that is packed is copied for that, with another header before it and the entry behind it; what lies between needs
// no look.

// split looks into a stream that is packed.
func (e *streamEdit) split() {
	if e.packed == nil {
		return
	}
	l := list{packed: e.packed}
	e.packed, e.elements = nil, make([][]byte, 0, l.count()+4)
	for element := range l.from(0) {
		e.elements = append(e.elements, element)
	}
}

// setLast sets an entry whose key is behind all that there are, and the header, which counts it.
func (e *streamEdit) setLast(h *streamHeader, id streamID, key, value []byte) {
	h.last, h.added = id, h.added+1
	header := h.append(make([]byte, 0, headerSize))
	if e.packed != nil && e.appendPacked(header, key, value) {
		return
	}
	e.set(key, value)
	e.set(headerKey, header)
}

// appendPacked is setLast for a stream that is packed. It reports false if that has no header.
func (e *streamEdit) appendPacked(header, key, value []byte) bool {
	l := list{packed: e.packed}
	first, behind, ok := parts.Lengthened(l.packed, l.head())
	if !ok || !bytes.Equal(keyOf(first), headerKey) {
		return false
	}
	newFirst := appendElement(make([]byte, 0, parts.LengthenedSize(len(headerKey))+len(header)), headerKey, header)
	entry := parts.LengthenedSize(len(key)) + len(value)
	n := l.count() + 1
	next := make([]byte, 0, parts.UvarintSize(n)+parts.LengthenedSize(len(newFirst))+len(l.packed)-behind+parts.LengthenedSize(entry))
	next = parts.AppendLengthened(binary.AppendUvarint(next, uint64(n)), newFirst)
	next = append(next, l.packed[behind:]...)
	e.packed = appendElement(binary.AppendUvarint(next, uint64(entry)), key, value)
	return true
}
