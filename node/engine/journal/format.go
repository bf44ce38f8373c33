package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	version = 1

	// blockSize is what the head of a segment takes, and what writes are padded to.
	blockSize = 4096
	// preambleSize is that of the magic word, the version, and the CRC of both.
	preambleSize = 16
	// headSize is that of a segment's head, without the size of the file.
	headSize = preambleSize + 3*8 + 4
	// sizeSize is that of what says how large the file is, behind the head.
	sizeSize = 8 + 4
	// checkpointSize is that of the checkpoint file.
	checkpointSize = preambleSize + 5*8 + 4
	// headerSize is that of a frame's header.
	headerSize = 40
	// pieceSize is that of what precedes the bytes of a piece.
	pieceSize = 4
	// maxFrame is the length of the largest payload of a frame. It bounds what recovery
	// keeps in memory.
	maxFrame = 1 << 20

	// flagSeal marks the last frame of a segment.
	flagSeal = 1

	// pieceBegins and pieceEnds are the flags in the length of a piece.
	pieceBegins = 1 << 31
	pieceEnds   = 1 << 30
	pieceLength = pieceEnds - 1
)

const (
	segmentMagic    = "QUOLLJNL"
	checkpointMagic = "QUOLLCKP"
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// seal appends the checksum of b from an offset on.
func seal(b []byte, from int) []byte { return le.AppendUint32(b, checksum(b[from:])) }

// sealed reports whether b from an offset on ends with its checksum.
func sealed(b []byte, from int) bool {
	end := len(b) - 4
	return checksum(b[from:end]) == le.Uint32(b[end:])
}

func appendPreamble(b []byte, magic string) []byte {
	from := len(b)
	b = append(b, magic...)
	b = le.AppendUint32(b, version)
	return seal(b, from)
}

// checkPreamble judges the beginning of a file. The CRC comes first: a version that is
// not what was written is damage.
func checkPreamble(b []byte, magic string) error {
	if !bytes.HasPrefix(b, []byte(magic)) || !sealed(b[:preambleSize], 0) {
		return fmt.Errorf("%w: this is not the beginning of such a file", ErrCorrupt)
	}
	if v := le.Uint32(b[len(magic):]); v > version {
		return fmt.Errorf("%w: format %d, this program knows up to %d; use the newer program",
			ErrVersion, v, version)
	}
	return nil
}

// checkpoint is the content of the checkpoint file.
type checkpoint struct {
	journal uint64 // random, the same in all files of a journal
	first   uint64 // number of the first segment that is needed; 0: none was ever used
	base    uint64 // seq that the first frame of that segment has
	seq     uint64 // operations up to here are durable elsewhere
	durable uint64 // operations up to here are durable in the journal: not below seq
}

func (c checkpoint) encode() []byte {
	b := appendPreamble(nil, checkpointMagic)
	for _, v := range []uint64{c.journal, c.first, c.base, c.seq, c.durable} {
		b = le.AppendUint64(b, v)
	}
	return seal(b, preambleSize)
}

func decodeCheckpoint(b []byte) (checkpoint, error) {
	if len(b) < preambleSize {
		return checkpoint{}, fmt.Errorf("%w: it has %d bytes", ErrCorrupt, len(b))
	}
	if err := checkPreamble(b, checkpointMagic); err != nil {
		return checkpoint{}, err
	}
	if len(b) != checkpointSize || !sealed(b, preambleSize) {
		return checkpoint{}, fmt.Errorf("%w: its checksum is wrong", ErrCorrupt)
	}
	v := func(i int) uint64 { return le.Uint64(b[preambleSize+8*i:]) }
	c := checkpoint{journal: v(0), first: v(1), base: v(2), seq: v(3), durable: v(4)}
	if c.base == 0 || c.seq > c.durable {
		return checkpoint{}, fmt.Errorf("%w: its numbers do not fit together", ErrCorrupt)
	}
	return c, nil
}

// encodeHead returns the first block of a segment, whose file has a size.
func encodeHead(journal, number, id uint64, size int64) []byte {
	b := appendPreamble(make([]byte, 0, blockSize), segmentMagic)
	for _, v := range []uint64{journal, number, id} {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint64(seal(b, preambleSize), uint64(size))
	return seal(b, headSize)[:blockSize]
}

// decodeSize returns how large the file of a segment is, by its first block; 0 if that does not say it: version 0.1.0 wrote zeros there.
func decodeSize(b []byte) (int64, error) {
	if len(b) < headSize+sizeSize {
		return 0, fmt.Errorf("%w: it has %d bytes", ErrCorrupt, len(b))
	}
	said := b[headSize:][:sizeSize]
	switch {
	case bytes.Equal(said, make([]byte, sizeSize)):
		return 0, nil
	case !sealed(said, 0):
		return 0, fmt.Errorf("%w: the checksum of its size is wrong", ErrCorrupt)
	}
	return int64(le.Uint64(said)), nil
}

// decodeHead checks the first block of a segment and returns its id.
func decodeHead(b []byte, journal, number uint64) (id uint64, err error) {
	if len(b) < headSize {
		return 0, fmt.Errorf("%w: it has %d bytes", ErrCorrupt, len(b))
	}
	if err := checkPreamble(b, segmentMagic); err != nil {
		return 0, err
	}
	if !sealed(b[:headSize], preambleSize) {
		return 0, fmt.Errorf("%w: the checksum of its head is wrong", ErrCorrupt)
	}
	v := func(i int) uint64 { return le.Uint64(b[preambleSize+8*i:]) }
	if v(0) != journal {
		return 0, fmt.Errorf("%w: it belongs to another journal", ErrCorrupt)
	}
	if v(1) != number {
		return 0, fmt.Errorf("%w: it is segment %d by its content", ErrCorrupt, v(1))
	}
	return v(2), nil
}

// header is that of a frame.
type header struct {
	seq    uint64 // of the operation that its first piece is of; for a seal the next one
	synced uint64 // all up to here was fdatasynced when the frame was written
	length uint32 // of the payload
	flags  uint32
	crc    uint32 // of the payload
}

// putHeader begins a frame. What is known only when it is written, putRest adds.
func putHeader(b []byte, id, seq uint64, flags uint32) {
	le.PutUint64(b, id)
	le.PutUint64(b[8:], seq)
	le.PutUint32(b[28:], flags)
}

func putLength(b []byte, n int) { le.PutUint32(b[24:], uint32(n)) }

// putRest completes the header of the frame that b begins with and returns the length
// of the frame.
func putRest(b []byte, synced uint64) int {
	end := headerSize + int(le.Uint32(b[24:]))
	le.PutUint64(b[16:], synced)
	le.PutUint32(b[32:], checksum(b[headerSize:end]))
	le.PutUint32(b[36:], checksum(b[:36]))
	return end
}

// decodeHeader returns the header of a frame, and whether it is one of this segment. b
// has headerSize bytes or more.
func decodeHeader(b []byte, id uint64) (header, bool) {
	if le.Uint64(b) != id || !sealed(b[:headerSize], 0) {
		return header{}, false
	}
	return header{
		seq: le.Uint64(b[8:]), synced: le.Uint64(b[16:]), length: le.Uint32(b[24:]),
		flags: le.Uint32(b[28:]), crc: le.Uint32(b[32:]),
	}, true
}
