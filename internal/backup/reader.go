package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/quolldb/quoll/internal/wire"
)

// Reader reads a backup and checks it on the way. What it has returned is sure to be
// as it was written, but only io.EOF says that nothing is missing. An error is final.
type Reader struct {
	// Build, if there is one, builds the large values. Without it they have nothing but their size (Unread).
	Build Build

	r       io.Reader
	version uint32
	pieces  pieces

	sum    hash.Hash
	offset int64 // of what was not read yet
	at     int64 // of the block that was read last
	header Header
	chunk  Chunk
	counts Counts
	digest Digest
	buf    bytes.Buffer
	err    error
}

// NewReader reads the header. It reads from r in pieces of the blocks' size, and nothing
// that it does not need.
func NewReader(r io.Reader) (*Reader, error) {
	in := &Reader{r: r, sum: sha256.New()}
	if err := in.preamble(); err != nil {
		return nil, err
	}
	k, body, err := in.block()
	if err != nil {
		return nil, err
	}
	if k != kindHeader {
		return nil, in.damaged("it does not begin with a header")
	}
	if err := json.Unmarshal(body, &in.header); err != nil {
		return nil, in.damaged("its header: %v", err)
	}
	if err := in.header.Cluster.Validate(); err != nil {
		return nil, in.damaged("its header: %v", err)
	}
	return in, nil
}

func (r *Reader) preamble() error {
	head := make([]byte, preambleSize)
	n, err := io.ReadFull(r.r, head)
	switch {
	case n > 0 && !bytes.HasPrefix(head[:n], []byte(magic)[:min(n, len(magic))]) || err == io.EOF:
		return fmt.Errorf("%w: it does not begin like one", ErrNotBackup)
	case err != nil:
		return r.short(err)
	case crc32.Checksum(head[:12], castagnoli) != binary.LittleEndian.Uint32(head[12:]):
		return r.damaged("the checksum of its first bytes is wrong")
	}
	if r.version = binary.LittleEndian.Uint32(head[8:]); r.version > Version {
		return fmt.Errorf("%w: its format is %d, this program knows format %d", ErrNewer, r.version, Version)
	}
	r.offset = int64(len(head))
	r.sum.Write(head)
	return nil
}

// Header returns what the backup is of.
func (r *Reader) Header() *Header { return &r.header }

// Counts returns what was read so far.
func (r *Reader) Counts() Counts { return r.counts }

// Digest names what is in the backup. It is known when Next has returned io.EOF.
func (r *Reader) Digest() Digest { return r.digest }

// Offset returns how many bytes were read so far.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the next chunk, which is valid until the next call, or io.EOF at the
// end of a backup that is complete and undamaged.
func (r *Reader) Next() (*Chunk, error) {
	if r.err == nil {
		r.err = r.next()
	}
	if r.err != nil {
		return nil, r.err
	}
	return &r.chunk, nil
}

func (r *Reader) next() error {
	r.pieces.reset()
	digest := r.sum.Sum(nil)
	k, body, err := r.block()
	for err == nil && k == kindPiece && r.version > 1 {
		if err := r.pieces.add(body, r.Build); err != nil {
			return r.damaged("%v", err)
		}
		digest = r.sum.Sum(nil)
		k, body, err = r.block()
	}
	if err != nil {
		return err
	}
	switch k {
	case kindChunk:
		return r.nextChunk(body)
	case kindTrailer:
		return r.finish(body, digest)
	case kindFailure:
		return fmt.Errorf("%w: %s", ErrFailed, body)
	}
	return r.damaged("it has a block of unknown kind %d", k)
}

func (r *Reader) nextChunk(body []byte) error {
	last := r.chunk.Slot
	if err := decodeChunk(&r.chunk, body, r.pieces.next); err != nil {
		return r.damaged("%v", err)
	}
	if len(r.pieces.whole) > 0 || r.pieces.coming() {
		return r.damaged("it has a value of no record")
	}
	if slot := r.chunk.Slot; slot < last || !r.header.Slots.Has(slot) {
		return r.damaged("slot %d is not expected after slot %d", slot, last)
	}
	for i := range r.chunk.Records {
		r.counts.add(&r.chunk.Records[i])
	}
	return nil
}

// finish checks the trailer, and that nothing follows.
func (r *Reader) finish(body, digest []byte) error {
	d := wire.NewDecoder(body)
	counts := Counts{Live: d.Uvarint(), Tombstones: d.Uvarint(), Bytes: d.Uvarint()}
	if recorded := d.Rest(); d.Err() != nil || counts != r.counts || !bytes.Equal(recorded, digest) {
		return r.damaged("what is in it is not what its end says")
	}
	copy(r.digest[:], digest)
	switch n, err := io.ReadFull(r.r, make([]byte, 1)); {
	case n > 0:
		return r.damaged("something follows its end")
	case err != io.EOF:
		return err
	}
	return io.EOF
}

// block reads a block. The body is valid until the next call.
func (r *Reader) block() (kind, []byte, error) {
	var head [blockHeader]byte
	r.at = r.offset
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, nil, r.short(err)
	}
	size := binary.LittleEndian.Uint32(head[1:])
	if size > maxBlock {
		return 0, nil, r.damaged("a block has an impossible length")
	}
	if r.buf.Reset(); r.buf.Cap() > maxKept {
		r.buf = bytes.Buffer{}
	}
	if _, err := io.CopyN(&r.buf, r.r, int64(size)); err != nil { // takes memory for what is there, not for what is said
		return 0, nil, r.short(err)
	}
	body := r.buf.Bytes()
	if checksum(head[:5], body) != binary.LittleEndian.Uint32(head[5:]) {
		return 0, nil, r.damaged("a checksum is wrong")
	}
	r.sum.Write(head[:])
	r.sum.Write(body)
	r.offset += int64(len(head)) + int64(size)
	return kind(head[0]), body, nil
}

// short is the error of a source that ended, or failed.
func (r *Reader) short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: its end is missing, from byte %d on", ErrIncomplete, r.at)
	}
	return err
}

func (r *Reader) damaged(format string, args ...any) error {
	return fmt.Errorf("%w at byte %d: %s", ErrDamaged, r.at, fmt.Sprintf(format, args...))
}
