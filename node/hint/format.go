package hint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/quolldb/quoll/ring"
)

const magic = "quoll hints 1\n"

// The kinds of records.
const (
	kindKey  = 1
	kindMark = 2 // of a slot
	kindAll  = 3 // all slots are marked
)

// headSize is the length of kind, slot, length of the key and their checksum.
const headSize = 1 + 2 + 4 + 4

var (
	errDamaged = errors.New("it is damaged")
	errForeign = errors.New("it is of another replica")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var le = binary.LittleEndian

// seal appends the checksum of what was appended from a place on.
func seal(b []byte, from int) []byte {
	return le.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// sealed splits n bytes off that are followed by their checksum.
func sealed(b []byte, n int) (content, rest []byte, ok bool) {
	if len(b) < n+4 {
		return nil, nil, false
	}
	return b[:n], b[n+4:], le.Uint32(b[n:]) == crc32.Checksum(b[:n], castagnoli)
}

func appendHeader(b []byte, replica string, generation uint64) []byte {
	from := len(b)
	b = append(b, magic...)
	b = le.AppendUint64(b, generation)
	b = le.AppendUint16(b, uint16(len(replica)))
	b = append(b, replica...)
	return seal(b, from)
}

// cutHeader returns what follows the header, if it is the one that is expected.
func cutHeader(b, expected []byte) ([]byte, error) {
	if rest, ok := bytes.CutPrefix(b, expected); ok {
		return rest, nil
	}
	const fixed = len(magic) + 8 + 2
	if len(b) < fixed || string(b[:len(magic)]) != magic {
		return nil, errDamaged
	}
	if _, _, ok := sealed(b, fixed+int(le.Uint16(b[fixed-2:]))); !ok {
		return nil, errDamaged
	}
	return nil, errForeign
}

func appendKey(b []byte, slot uint16, key []byte) []byte {
	b = appendHead(b, kindKey, slot, len(key))
	from := len(b)
	return seal(append(b, key...), from)
}

func appendHead(b []byte, kind byte, slot uint16, length int) []byte {
	from := len(b)
	b = append(b, kind)
	b = le.AppendUint16(b, slot)
	b = le.AppendUint32(b, uint32(length))
	return seal(b, from)
}

// load adds what records say to a set. It returns how many bytes of an end that was cut off are
// left.
func (s *Set) load(b []byte) (torn int, err error) {
	for len(b) > 0 {
		head, rest, ok := sealed(b, headSize-4)
		switch {
		case head == nil || !ok && len(bytes.Trim(b, "\x00")) == 0: // space that nothing was written to
			return len(b), nil
		case !ok:
			return 0, errDamaged
		}
		slot, length := le.Uint16(head[1:]), le.Uint32(head[3:])
		if slot >= ring.Slots {
			return 0, errDamaged
		}
		switch head[0] {
		case kindKey:
			if uint64(len(rest)) < uint64(length)+4 {
				return len(b), nil
			}
			var key []byte
			if key, rest, ok = sealed(rest, int(length)); !ok {
				return 0, errDamaged
			}
			s.add(slot, key)
		case kindMark:
			s.mark(slot)
		case kindAll:
			s.markAll()
		default:
			return 0, errDamaged
		}
		b = rest
	}
	return 0, nil
}

func (s *Set) markAll() {
	for slot := uint16(0); slot < ring.Slots; slot++ {
		s.mark(slot)
	}
}

// encode returns the whole file.
func (s *Set) encode(b []byte) []byte {
	if s.marks.n == ring.Slots {
		b = appendHead(b, kindAll, 0, 0)
	} else {
		for _, slot := range s.marks.list() {
			b = appendHead(b, kindMark, slot, 0)
		}
	}
	for _, slot := range s.taken.Marks {
		b = appendHead(b, kindMark, slot, 0)
	}
	for _, h := range s.taken.Hints {
		b = appendKey(b, h.Slot, h.Key)
	}
	for slot, keys := range s.slots {
		for key := range keys {
			b = appendKey(b, slot, []byte(key))
		}
	}
	return b
}
