package rdb

import (
	"encoding/binary"
	"strconv"
)

// ziplistOf writes a ziplist as Redis up to 6.2 did.
func ziplistOf(items []string) []byte {
	out, before, last := make([]byte, 10), 0, 10
	for _, item := range items {
		last = len(out)
		if before < 254 {
			out = append(out, byte(before))
		} else {
			out = binary.LittleEndian.AppendUint32(append(out, 254), uint32(before))
		}
		out = appendZiplistItem(out, item)
		before = len(out) - last
	}
	out = append(out, packedEnd)
	binary.LittleEndian.PutUint32(out, uint32(len(out)))
	binary.LittleEndian.PutUint32(out[4:], uint32(last))
	binary.LittleEndian.PutUint16(out[8:], uint16(len(items)))
	return out
}

func appendZiplistItem(out []byte, item string) []byte {
	n, err := strconv.ParseInt(item, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != item {
		switch length := len(item); {
		case length < 1<<6:
			out = append(out, byte(length))
		case length < 1<<14:
			out = append(out, byte(length>>8)|1<<6, byte(length))
		default:
			out = binary.BigEndian.AppendUint32(append(out, 0x80), uint32(length))
		}
		return append(out, item...)
	}
	switch {
	case 0 <= n && n <= 12:
		return append(out, 0xf1+byte(n))
	case n == int64(int8(n)):
		return append(out, 0xfe, byte(n))
	case n == int64(int16(n)):
		return binary.LittleEndian.AppendUint16(append(out, 0xc0), uint16(n))
	case n == n<<40>>40:
		return append(out, 0xf0, byte(n), byte(n>>8), byte(n>>16))
	case n == int64(int32(n)):
		return binary.LittleEndian.AppendUint32(append(out, 0xd0), uint32(n))
	}
	return binary.LittleEndian.AppendUint64(append(out, 0xe0), uint64(n))
}

// zipmapOf writes a zipmap as Redis up to 2.4 did, with a byte that is not used behind each value.
func zipmapOf(items []string) []byte {
	out := []byte{byte(min(len(items)/2, 254))}
	for i, item := range items {
		if len(item) < 254 {
			out = append(out, byte(len(item)))
		} else {
			out = binary.LittleEndian.AppendUint32(append(out, 254), uint32(len(item)))
		}
		if i%2 == 1 {
			out = append(append(append(out, 1), item...), 'x')
			continue
		}
		out = append(out, item...)
	}
	return append(out, packedEnd)
}
