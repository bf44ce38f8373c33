package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// plainTypes are the types in which values are written.
var plainTypes = [...]byte{String: typeString, List: typeList, Set: typeSet, SortedSet: typeSortedSet2, Hash: typeHash}

// Begin appends the beginning of a payload: the kind of the value and how many items it has, each of which is appended by AppendItem: a field of a hash and
// its value are one item. Seal ends it.
func Begin(dst []byte, kind Kind, items int) []byte {
	dst = append(dst, plainTypes[kind])
	if kind == String {
		return dst
	}
	return appendLength(dst, items)
}

// appendLength appends a length.
func appendLength(dst []byte, n int) []byte {
	switch {
	case n < 1<<6:
		return append(dst, byte(n))
	case n < 1<<14:
		return append(dst, byte(n>>8)|length14<<6, byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, length32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, length64), uint64(n))
}

// AppendItem appends a string, as a number if it is one.
func AppendItem(dst, value []byte) []byte {
	const longest = len("-2147483648")
	if len(value) <= longest {
		if n, err := strconv.ParseInt(string(value), 10, 32); err == nil && strconv.FormatInt(n, 10) == string(value) {
			return appendNumber(dst, n)
		}
	}
	return append(appendLength(dst, len(value)), value...)
}

func appendNumber(dst []byte, n int64) []byte {
	switch {
	case n == int64(int8(n)):
		return append(dst, encoded<<6+encInt8, byte(n))
	case n == int64(int16(n)):
		return binary.LittleEndian.AppendUint16(append(dst, encoded<<6+encInt16), uint16(n))
	}
	return binary.LittleEndian.AppendUint32(append(dst, encoded<<6+encInt32), uint32(n))
}

// AppendScore appends the score of the member of a sorted set that was appended before.
func AppendScore(dst []byte, score float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(score))
}

// Seal ends a payload.
func Seal(payload []byte) []byte {
	payload = binary.LittleEndian.AppendUint16(payload, Version)
	return binary.LittleEndian.AppendUint64(payload, checksum(payload))
}
