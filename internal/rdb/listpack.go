package rdb

import (
	"encoding/binary"
	"fmt"
)

// packedEnd is the last byte of listpacks, ziplists and zipmaps.
const packedEnd = 0xff

// visitor is called with items of a value, which are borrowed.
type visitor func(item []byte) error

// unpack goes through what stands in a header of so many bytes, the end behind it, and is taken apart by next; its count is in the last two bytes of the header.
func unpack(packed []byte, header int, next func(r *reader) ([]byte, error), item visitor) error {
	const many = 0xffff // too many for the count
	if len(packed) < header+1 || uint64(binary.LittleEndian.Uint32(packed)) != uint64(len(packed)) || packed[len(packed)-1] != packedEnd {
		return fmt.Errorf("%w: header or end of a packed value", ErrFormat)
	}
	count := int(binary.LittleEndian.Uint16(packed[header-2:]))
	r := &reader{data: packed[header : len(packed)-1]}
	items := 0
	for ; len(r.data) > 0; items++ {
		value, err := next(r)
		if err == nil {
			err = item(value)
		}
		if err != nil {
			return err
		}
	}
	if count != many && count != items {
		return fmt.Errorf("%w: %d items instead of %d", ErrFormat, items, count)
	}
	return nil
}

// listpack goes through the items of a listpack.
func listpack(packed []byte, item visitor) error { return unpack(packed, 6, listpackItem, item) }

// listpackItem reads an item of a listpack: it, and then how long it was.
func listpackItem(r *reader) ([]byte, error) {
	before := len(r.data)
	value, err := listpackValue(r)
	if err != nil {
		return nil, err
	}
	length := before - len(r.data)
	back, err := r.take(backSize(length))
	if err != nil {
		return nil, err
	}
	said := 0
	for i, b := range back {
		said = said<<7 | int(b&0x7f)
		if (b&0x80 != 0) != (i > 0) {
			return nil, fmt.Errorf("%w: length behind an item of a listpack", ErrFormat)
		}
	}
	if said != length {
		return nil, fmt.Errorf("%w: an item of a listpack has %d bytes instead of %d", ErrFormat, length, said)
	}
	return value, nil
}

// backSize returns in how many bytes a length is written behind an item.
func backSize(n int) int {
	switch {
	case n <= 127:
		return 1
	case n < 16383:
		return 2
	case n < 2097151:
		return 3
	case n < 268435455:
		return 4
	}
	return 5
}

func listpackValue(r *reader) ([]byte, error) {
	head, err := r.take(1)
	if err != nil {
		return nil, err
	}
	b := head[0]
	rest, err := r.take(listpackTail(b))
	if err != nil {
		return nil, err
	}
	switch {
	case b&0x80 == 0:
		return r.number(int64(b)), nil
	case b&0xc0 == 0x80:
		return r.take(int(b & 0x3f))
	case b&0xe0 == 0xc0: // 13 bits with a sign
		return r.number(int64(uint64(b&0x1f)<<8|uint64(rest[0])) << 51 >> 51), nil
	case b&0xf0 == 0xe0:
		return r.take(int(b&0x0f)<<8 | int(rest[0]))
	case b == 0xf0:
		return r.take(int(binary.LittleEndian.Uint32(rest)))
	case b <= 0xf4:
		return r.number(littleInt(rest)), nil
	}
	return nil, fmt.Errorf("%w: item %#x in a listpack", ErrFormat, b)
}

// listpackTail returns how many bytes of the head of an item, or of a number, are behind the first one.
func listpackTail(b byte) int {
	switch {
	case b&0xe0 == 0xc0, b&0xf0 == 0xe0:
		return 1
	case b == 0xf0, b == 0xf3:
		return 4
	case b == 0xf1:
		return 2
	case b == 0xf2:
		return 3
	case b == 0xf4:
		return 8
	}
	return 0
}
