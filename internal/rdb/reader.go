package rdb

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// reader reads from bytes. left is how many more bytes strings may become that are compressed.
type reader struct {
	data []byte
	left int
	room []byte // of the last string that is not as it stands there
}

// The ways in which a length is written; behind encoded stands not a length but how a string is written.
const (
	length6  = 0
	length14 = 1
	encoded  = 3
	length32 = 0x80
	length64 = 0x81
)

// The encodings of strings.
const (
	encInt8 = iota
	encInt16
	encInt32
	encLZF
)

// take returns the next n bytes.
func (r *reader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.data) {
		return nil, fmt.Errorf("%w: it ends too early", ErrFormat)
	}
	taken := r.data[:n:n]
	r.data = r.data[n:]
	return taken, nil
}

// head reads a length, or the number of an encoding.
func (r *reader) head() (n uint64, isEncoding bool, err error) {
	first, err := r.take(1)
	if err != nil {
		return 0, false, err
	}
	b := first[0]
	rest, err := r.take(tailOf(b))
	switch {
	case err != nil:
		return 0, false, err
	case b>>6 == encoded:
		return uint64(b & 0x3f), true, nil
	case b>>6 == length6:
		return uint64(b & 0x3f), false, nil
	case b>>6 == length14:
		return uint64(b&0x3f)<<8 | uint64(rest[0]), false, nil
	case b == length32:
		return uint64(binary.BigEndian.Uint32(rest)), false, nil
	case b == length64:
		return binary.BigEndian.Uint64(rest), false, nil
	}
	return 0, false, fmt.Errorf("%w: length %#x", ErrFormat, b)
}

// tailOf returns how many bytes of a length are behind its first one.
func tailOf(b byte) int {
	switch {
	case b>>6 == length14:
		return 1
	case b == length32:
		return 4
	case b == length64:
		return 8
	}
	return 0
}

// length reads how many bytes, or things of at least a byte each, follow.
func (r *reader) length() (int, error) {
	n, isEncoding, err := r.head()
	switch {
	case err != nil:
		return 0, err
	case isEncoding || n > uint64(len(r.data)):
		return 0, fmt.Errorf("%w: length %d, and %d bytes are left", ErrFormat, n, len(r.data))
	}
	return int(n), nil
}

// string reads a string, which is good until the next one is read.
func (r *reader) string() ([]byte, error) {
	n, isEncoding, err := r.head()
	switch {
	case err != nil:
		return nil, err
	case !isEncoding && n > uint64(len(r.data)):
		return nil, fmt.Errorf("%w: %d bytes, and %d are left", ErrFormat, n, len(r.data))
	case !isEncoding:
		return r.take(int(n))
	}
	switch n {
	case encInt8, encInt16, encInt32:
		b, err := r.take(1 << n)
		if err != nil {
			return nil, err
		}
		return r.number(littleInt(b)), nil
	case encLZF:
		return r.compressed()
	}
	return nil, fmt.Errorf("%w: encoding %d of a string", ErrFormat, n)
}

// number returns a number as a string.
func (r *reader) number(n int64) []byte {
	r.room = strconv.AppendInt(r.room[:0], n, 10)
	return r.room
}

// littleInt reads a signed number of up to 8 bytes, the least significant first.
func littleInt(b []byte) int64 {
	var n uint64
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	unused := 64 - 8*len(b)
	return int64(n<<unused) >> unused
}

func (r *reader) compressed() ([]byte, error) {
	from, err := r.length()
	if err != nil {
		return nil, err
	}
	to, isEncoding, err := r.head()
	if err != nil || isEncoding {
		return nil, fmt.Errorf("%w: bad length of a compressed string", ErrFormat)
	}
	data, err := r.take(from)
	if err != nil {
		return nil, err
	}
	if to > uint64(max(r.left, 0)) {
		return nil, ErrTooLong
	}
	r.left -= int(to)
	r.room, err = decompress(r.room[:0], data, int(to))
	return r.room, err
}

// decompress appends what LZF has compressed, which is n bytes. No byte of the data stands for more than 264 of them.
func decompress(dst, data []byte, n int) ([]byte, error) {
	const longest = 264
	if n/longest > len(data) {
		return nil, fmt.Errorf("%w: %d bytes cannot become %d", ErrFormat, len(data), n)
	}
	start := len(dst)
	for i := 0; i < len(data); {
		control := int(data[i])
		i++
		if control < 32 { // as they stand there
			run := control + 1
			if run > len(data)-i {
				return nil, fmt.Errorf("%w: it ends too early", ErrFormat)
			}
			dst = append(dst, data[i:i+run]...)
			i += run
		} else {
			run := control >> 5
			if run == 7 {
				if i == len(data) {
					return nil, fmt.Errorf("%w: it ends too early", ErrFormat)
				}
				run += int(data[i])
				i++
			}
			if i == len(data) {
				return nil, fmt.Errorf("%w: it ends too early", ErrFormat)
			}
			from := len(dst) - ((control&0x1f)<<8 | int(data[i])) - 1
			i++
			if from < start {
				return nil, fmt.Errorf("%w: it repeats what was before", ErrFormat)
			}
			for range run + 2 { // which may repeat what it adds
				dst = append(dst, dst[from])
				from++
			}
		}
		if len(dst)-start > n {
			break
		}
	}
	if len(dst)-start != n {
		return nil, fmt.Errorf("%w: not the length that was said", ErrFormat)
	}
	return dst, nil
}
