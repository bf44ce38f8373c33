package rdb

import (
	"encoding/binary"
	"fmt"
)

// ziplist goes through the items of a ziplist.
func ziplist(packed []byte, item visitor) error {
	last := -1 // how many bytes the item before has; none before the first
	next := func(r *reader) ([]byte, error) {
		value, size, err := ziplistItem(r, max(last, 0))
		last = size
		return value, err
	}
	return unpack(packed, 10, next, item)
}

// ziplistItem reads an item of a ziplist, behind how many bytes the one before has.
func ziplistItem(r *reader, before int) (value []byte, size int, err error) {
	const long = 254
	start := len(r.data)
	head, err := r.take(1)
	if err != nil {
		return nil, 0, err
	}
	said := int(head[0])
	if head[0] >= long {
		tail, err := r.take(4)
		if err != nil {
			return nil, 0, err
		}
		said = int(binary.LittleEndian.Uint32(tail))
	}
	if said != before || head[0] == packedEnd {
		return nil, 0, fmt.Errorf("%w: an item of a ziplist has %d bytes instead of %d", ErrFormat, before, said)
	}
	value, err = ziplistValue(r)
	return value, start - len(r.data), err
}

func ziplistValue(r *reader) ([]byte, error) {
	head, err := r.take(1)
	if err != nil {
		return nil, err
	}
	b := head[0]
	rest, err := r.take(ziplistTail(b))
	if err != nil {
		return nil, err
	}
	switch {
	case b>>6 == 0:
		return r.take(int(b & 0x3f))
	case b>>6 == 1:
		return r.take(int(b&0x3f)<<8 | int(rest[0]))
	case b == 0x80:
		return r.take(int(binary.BigEndian.Uint32(rest)))
	case b >= 0xf1 && b <= 0xfd:
		return r.number(int64(b&0x0f) - 1), nil
	case len(rest) > 0:
		return r.number(littleInt(rest)), nil
	}
	return nil, fmt.Errorf("%w: item %#x in a ziplist", ErrFormat, b)
}

// ziplistTail returns how many bytes of the head of an item, or of a number, are behind the first one.
func ziplistTail(b byte) int {
	switch {
	case b>>6 == 1, b == 0xfe:
		return 1
	case b == 0xc0:
		return 2
	case b == 0xf0:
		return 3
	case b == 0x80, b == 0xd0:
		return 4
	case b == 0xe0:
		return 8
	}
	return 0
}

// zipmap goes through the fields and values of a zipmap: its count, which is not looked at, and then of each pair two lengths, behind that of the value how
// many bytes behind it are not used.
func zipmap(packed []byte, item visitor) error {
	if len(packed) < 2 || packed[len(packed)-1] != packedEnd {
		return fmt.Errorf("%w: end of a zipmap", ErrFormat)
	}
	r := &reader{data: packed[1 : len(packed)-1]}
	for isValue := false; len(r.data) > 0 || isValue; isValue = !isValue {
		value, err := zipmapString(r, isValue)
		if err == nil {
			err = item(value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func zipmapString(r *reader, isValue bool) ([]byte, error) {
	const long = 254
	head, err := r.take(1)
	if err != nil {
		return nil, err
	}
	n := int(head[0])
	switch head[0] {
	case long:
		tail, err := r.take(4)
		if err != nil {
			return nil, err
		}
		n = int(binary.LittleEndian.Uint32(tail))
	case packedEnd:
		return nil, fmt.Errorf("%w: a zipmap ends too early", ErrFormat)
	}
	unused := 0
	if isValue {
		free, err := r.take(1)
		if err != nil {
			return nil, err
		}
		unused = int(free[0])
	}
	value, err := r.take(n)
	if err != nil {
		return nil, err
	}
	_, err = r.take(unused)
	return value, err
}

// intset goes through the numbers of an intset, which are in order.
func intset(packed []byte, item visitor) error {
	if len(packed) < 8 {
		return fmt.Errorf("%w: header of an intset", ErrFormat)
	}
	width, count := binary.LittleEndian.Uint32(packed), binary.LittleEndian.Uint32(packed[4:])
	if width != 2 && width != 4 && width != 8 || uint64(width)*uint64(count) != uint64(len(packed)-8) || count == 0 {
		return fmt.Errorf("%w: an intset of %d numbers of %d bytes", ErrFormat, count, width)
	}
	r := &reader{data: packed[8:]}
	for last, first := int64(0), true; len(r.data) > 0; first = false {
		b, err := r.take(int(width))
		if err != nil {
			return err
		}
		n := littleInt(b)
		if !first && n <= last {
			return fmt.Errorf("%w: an intset that is not in order", ErrFormat)
		}
		last = n
		if err := item(r.number(n)); err != nil {
			return err
		}
	}
	return nil
}
