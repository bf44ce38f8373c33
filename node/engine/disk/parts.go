package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// A large object (record.Parted) is in the store in parts, so that a small change writes little. The record, its head, says under which number
// the object is, which part is the root, and which numbers parts may yet have; each part says which are below it. What a
// part means only its data type knows.
//
// A part never changes, and the number of one that a head has named is never used again: what changes is written as other parts. They are written before the head, and what the
// head does not name any more is removed after it. So whichever head a crash leaves has all of its parts.
//
//	part: 0xff 'p' slot (2) generation (4) position (6) object (8) part (8)
//	      -> checksum (4) how many are below, twice, and one more if those have some below; their numbers; content

var partsPrefix = []byte{0xff, 'p'}

// The lengths of the store's keys of parts, and of their beginnings: up to the position, and up to the object's number.
const (
	partPlace  = 2 + formAt
	partObject = partPlace + 8
	partKeyLen = partObject + 8
)

// objectKey is the beginning of the store's keys of the parts of an object whose record is at a key.
func objectKey(at []byte, object uint64) []byte {
	key := append(append(make([]byte, 0, partKeyLen), partsPrefix...), at[:formAt]...)
	return binary.BigEndian.AppendUint64(key, object)
}

// partKey is the store's key of a part.
func partKey(at []byte, p record.Place) []byte {
	return binary.BigEndian.AppendUint64(objectKey(at, p.Object), p.Part)
}

// partIn returns the numbers in the store's key of a part.
func partIn(key []byte) record.Place {
	return record.Place{Object: objectIn(key), Part: binary.BigEndian.Uint64(key[partObject:])}
}

// objectIn returns the number of the object in the store's key of a part, or the beginning of one.
func objectIn(key []byte) uint64 { return binary.BigEndian.Uint64(key[partPlace:]) }

// head is what a record says of its value if that is in parts.
type head struct {
	object uint64 // the number that the object has; 0: the value is not in parts
	root   uint64 // part
	deep   bool   // there are parts below the root
	next   uint64 // the first number that no part has had yet
}

func (h head) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, h.object)
	return binary.AppendUvarint(binary.AppendUvarint(dst, h.root<<1|bit(h.deep)), h.next)
}

func (d *decoder) partsHead() (h head) {
	h.object = d.uint64()
	root := d.uvarint()
	h.root, h.deep, h.next = root>>1, root&1 != 0, d.uvarint()
	if h.object == 0 || h.root >= h.next || len(d.rest) > 0 {
		d.rest = nil
	}
	return h
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// below are the parts below one.
type below struct {
	parts []uint64
	deep  bool // they have parts below
}

// encodePart returns what the store keeps of a part under a key.
func encodePart(key []byte, b below, p record.Part) []byte {
	dst := make([]byte, 4, 512)
	dst = binary.AppendUvarint(dst, uint64(len(b.parts))<<1|bit(b.deep))
	for _, number := range b.parts {
		dst = binary.AppendUvarint(dst, number)
	}
	dst = p.AppendPart(dst)
	binary.LittleEndian.PutUint32(dst, partSum(key, dst[4:]))
	return dst
}

func partSum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

// readPart returns what is below a part, and its content.
func readPart(r Reader, at []byte, p record.Place) (b below, content []byte, err error) {
	key := partKey(at, p)
	value, found, err := r.Get(key)
	if err != nil {
		return below{}, nil, err
	}
	if !found {
		return below{}, nil, errors.New("a part of it is not there")
	}
	if len(value) < 4 || binary.LittleEndian.Uint32(value) != partSum(key, value[4:]) {
		return below{}, nil, errDamaged
	}
	d := decoder{value[4:]}
	n := d.uvarint()
	if n>>1 > uint64(len(d.rest)) {
		return below{}, nil, errDamaged
	}
	b = below{make([]uint64, n>>1), n&1 != 0}
	for i := range b.parts {
		b.parts[i] = d.uvarint()
	}
	if d.rest == nil {
		return below{}, nil, errDamaged
	}
	return b, d.rest, nil
}

// assemble returns the object of a type that is in parts, the record being at a key of a slot's generation. It may read the rest later.
func (e *Engine) assemble(r Reader, at []byte, t record.Type, h head) (record.Object, error) {
	if e.opt.Assemble == nil {
		return nil, fmt.Errorf("%w: an object in parts, which nobody here can put together", engine.ErrCorrupt)
	}
	q := &source{engine: e, slot: binary.BigEndian.Uint16(at), generation: binary.BigEndian.Uint32(at[generationAt:]), at: bytes.Clone(at), object: h.object, first: r}
	object, err := e.opt.Assemble(t, record.Place{Object: h.object, Part: h.root}, q)
	q.first = nil
	if err == nil && sourceOf(record.State{Object: object}) != nil {
		e.sources.add(q)
	}
	return object, err
}
