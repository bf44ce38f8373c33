package disk

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// What the store holds. A slot's keys have a generation, which grows when the slot is
// cleared: what is of an older one is garbage.
//
//	record: slot (2) generation (4) position (6) form (1) key      -> checksum (4) record, or where its value is
//	value:  0xff 'v' number (8)                                    -> checksum (4) value
//	part:   0xff 'p' ...                                           -> see parts.go
//	slot:   0xff 's' slot (2)                                      -> checksum (4) slot state
//	mark:   0xff 'm' name                                          -> number (8)
//
// Numbers in keys are big-endian, so that their order is the store's. The checksum is a CRC32C
// over slot, position, key and value.

// maxKey is the length up to which a key stands for itself. The store takes no keys beyond
// 65,000 bytes: longer ones are represented by their SHA-256, and are with the value, apart.
const maxKey = 32 << 10

const (
	formKey  = 0
	formHash = 1
)

const (
	generationAt = 2
	positionAt   = 6
	formAt       = 12
	keyAt        = 13
)

// appendKey appends the store's key of a record.
func appendKey(dst []byte, slot uint16, generation uint32, pos engine.Position, key []byte) []byte {
	dst = appendPlace(dst, slot, generation, pos)
	if len(key) <= maxKey {
		return append(append(dst, formKey), key...)
	}
	sum := sha256.Sum256(key)
	return append(append(dst, formHash), sum[:]...)
}

// appendPlace appends the beginning of the keys of all records from a position on.
func appendPlace(dst []byte, slot uint16, generation uint32, pos engine.Position) []byte {
	dst = binary.BigEndian.AppendUint16(dst, slot)
	dst = binary.BigEndian.AppendUint32(dst, generation)
	var position [8]byte
	binary.BigEndian.PutUint64(position[:], uint64(pos))
	return append(dst, position[2:]...)
}

func appendGeneration(dst []byte, slot uint16, generation uint32) []byte {
	return appendPlace(dst, slot, generation, 0)[:len(dst)+positionAt]
}

func positionIn(storeKey []byte) engine.Position {
	var position [8]byte
	copy(position[2:], storeKey[positionAt:formAt])
	return engine.Position(binary.BigEndian.Uint64(position[:]))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum of a record: a value is that of one key in one slot only.
func sum(storeKey, value []byte) uint32 {
	crc := crc32.Update(0, castagnoli, storeKey[:generationAt])
	crc = crc32.Update(crc, castagnoli, storeKey[positionAt:])
	return crc32.Update(crc, castagnoli, value)
}

// errDamaged is the reason of an ErrCorrupt.
var errDamaged = errors.New("the checksum does not match")

// Where the value of a record is: behind it, apart (large.go), or in parts (parts.go).
const (
	valueHere    = 0
	valueApart   = 1
	valueInParts = 2
)

// elsewhere says where the value of a record is that is not behind it.
type elsewhere struct {
	number uint64 // apart, under this number, if it is not 0
	parts  head   // in parts, if it has an object
}

// encodeRecord returns the store's value of a record.
func encodeRecord(storeKey []byte, rec record.Record, away elsewhere) []byte {
	place := byte(valueHere)
	switch {
	case away.parts.object != 0:
		place, rec.State.Value = valueInParts, away.parts.append(nil)
	case away.number != 0:
		place, rec.State.Value = valueApart, binary.LittleEndian.AppendUint64(nil, away.number)
	}
	dst := append(make([]byte, 4, 5+recordOverhead+len(rec.State.Value)), place)
	dst = append(appendHead(dst, rec), rec.State.Value...)
	binary.LittleEndian.PutUint32(dst, sum(storeKey, dst[4:]))
	return dst
}

// decodeRecord is the reverse. The record is a view; it is without its value if that is elsewhere.
func decodeRecord(storeKey, value []byte) (rec record.Record, away elsewhere, err error) {
	if len(storeKey) < keyAt || len(value) < 4 || binary.LittleEndian.Uint32(value) != sum(storeKey, value[4:]) {
		return record.Record{}, elsewhere{}, errDamaged
	}
	d := decoder{value[4:]}
	place := d.bytes(1)
	rec = d.head()
	switch {
	case place == nil:
	case place[0] == valueApart:
		if away.number = d.uint64(); away.number == 0 || len(d.rest) > 0 {
			d.rest = nil
		}
	case place[0] == valueInParts:
		away.parts = d.partsHead()
	}
	rec.State.Value = d.rest
	if d.rest == nil || storeKey[formAt] == formHash && away.number == 0 {
		return record.Record{}, elsewhere{}, errDamaged
	}
	return rec, away, nil
}

// recordOverhead is the most that appendHead appends.
const recordOverhead = 10 + 8 + 10 + 1 + 10

// appendHead appends a record but for its value.
func appendHead(dst []byte, rec record.Record) []byte {
	dst = appendVersion(dst, rec.Version)
	dst = append(dst, byte(rec.State.Type))
	return binary.AppendVarint(dst, rec.State.ExpireAt)
}

func appendBallot(dst []byte, b record.Ballot) []byte {
	dst = binary.AppendUvarint(dst, b.Counter)
	return binary.LittleEndian.AppendUint64(dst, b.Incarnation)
}

func appendVersion(dst []byte, v record.Version) []byte {
	return binary.AppendUvarint(appendBallot(dst, v.Ballot), v.Seq)
}

func appendMeta(dst []byte, m record.SlotMeta) []byte {
	dst = binary.AppendUvarint(dst, m.Epoch)
	dst = appendBallot(dst, m.Promised)
	return appendVersion(appendVersion(dst, m.Floor), m.Cleared)
}

// appendLeaves appends which leaves are not zero, leaf i as bit i, and those.
func appendLeaves(dst []byte, leaves engine.Leaves) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, leaves.Differing(new(engine.Leaves)))
	for _, leaf := range leaves {
		if leaf != 0 {
			dst = binary.LittleEndian.AppendUint64(dst, leaf)
		}
	}
	return dst
}

// decoder reads what the functions above have written. After a fault rest is nil, and
// everything it returns is zero.
type decoder struct{ rest []byte }

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	return n * d.skip(size)
}

func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.rest)
	return n * int64(d.skip(size))
}

// skip returns 1, or 0 if there was a fault.
func (d *decoder) skip(size int) uint64 {
	if size <= 0 || d.rest == nil {
		d.rest = nil
		return 0
	}
	d.rest = d.rest[size:]
	return 1
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.rest = nil
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint64() uint64 {
	b := d.bytes(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *decoder) ballot() record.Ballot {
	return record.Ballot{Counter: d.uvarint(), Incarnation: d.uint64()}
}

func (d *decoder) version() record.Version {
	return record.Version{Ballot: d.ballot(), Seq: d.uvarint()}
}

func (d *decoder) head() record.Record {
	rec := record.Record{Version: d.version()}
	if b := d.bytes(1); b != nil {
		rec.State.Type = record.Type(b[0])
	}
	rec.State.ExpireAt = d.varint()
	return rec
}

func (d *decoder) meta() record.SlotMeta {
	return record.SlotMeta{Epoch: d.uvarint(), Promised: d.ballot(), Floor: d.version(), Cleared: d.version()}
}

func (d *decoder) leaves() (leaves engine.Leaves) {
	given := d.uint64()
	for i := range leaves {
		if given>>i&1 == 1 {
			leaves[i] = d.uint64()
		}
	}
	return leaves
}
