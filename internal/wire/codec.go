package wire

import (
	"encoding/binary"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// AppendUvarint appends n in 1 to 10 bytes, small numbers in few.
func AppendUvarint(dst []byte, n uint64) []byte { return binary.AppendUvarint(dst, n) }

// AppendVarint appends n in 1 to 10 bytes, numbers near zero in few.
func AppendVarint(dst []byte, n int64) []byte { return binary.AppendVarint(dst, n) }

// AppendUint16 appends n in two bytes.
func AppendUint16(dst []byte, n uint16) []byte { return binary.LittleEndian.AppendUint16(dst, n) }

// AppendUint64 appends n in eight bytes: for numbers that are usually large.
func AppendUint64(dst []byte, n uint64) []byte { return binary.LittleEndian.AppendUint64(dst, n) }

// AppendBool appends a byte, 1 or 0.
func AppendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendBytes appends the length of b and b. A nil slice is an empty one.
func AppendBytes[T ~string | ~[]byte](dst []byte, b T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return buffer.Append(dst, b)
}

// lengthSize is how many bytes are kept for a length that is not known yet: of up to 2^35.
const lengthSize = 5

// BeginBytes leaves room for the length of bytes that are about to be appended, and returns where they begin: for EndBytes, which makes of both what
// AppendBytes appends, but for the length of the length.
func BeginBytes(dst []byte) (begun []byte, at int) {
	dst = append(dst, make([]byte, lengthSize)...)
	return dst, len(dst)
}

// EndBytes is described at BeginBytes.
func EndBytes(dst []byte, at int) []byte {
	n, length := len(dst)-at, dst[at-lengthSize:at]
	for i := range length {
		length[i] = byte(n>>(7*i)) | 0x80
	}
	length[lengthSize-1] &^= 0x80
	return dst
}

// AppendBallot appends a ballot: 9 bytes for small counters. Incarnations are
// random, so they have a fixed size.
func AppendBallot(dst []byte, b record.Ballot) []byte {
	dst = AppendUvarint(dst, b.Counter)
	return AppendUint64(dst, b.Incarnation)
}

// AppendVersion appends a version: 10 bytes and more.
func AppendVersion(dst []byte, v record.Version) []byte {
	dst = AppendBallot(dst, v.Ballot)
	return AppendUvarint(dst, v.Seq)
}

// AppendState appends what a key holds.
func AppendState(dst []byte, s record.State) []byte {
	dst = append(dst, byte(s.Type))
	dst = AppendVarint(dst, s.ExpireAt)
	if s.Object != nil {
		return s.Object.AppendTo(AppendUvarint(dst, uint64(s.Object.Size())))
	}
	return AppendBytes(dst, s.Value)
}

// plainBit marks the type of a value that is to stay bytes.
const plainBit = 1 << 7

// AppendForm appends of what type a value is that comes in pieces, and whether it is plain bytes instead of an object.
func AppendForm(dst []byte, t record.Type, plain bool) []byte {
	if plain {
		return append(dst, byte(t)|plainBit)
	}
	return append(dst, byte(t))
}

// stateAhead is in the place of a state's type if its value is sent ahead of the message. No type has this number.
const stateAhead = 0xff

// AppendStateAhead appends what a key holds without its value, which was sent ahead under a number; 0: it was not, and is appended, too.
func AppendStateAhead(dst []byte, s record.State, id uint64) []byte {
	if id == 0 {
		return AppendState(dst, s)
	}
	dst = append(dst, stateAhead, byte(s.Type))
	dst = AppendVarint(dst, s.ExpireAt)
	return AppendUvarint(dst, id)
}
