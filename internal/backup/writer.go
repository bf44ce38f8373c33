package backup

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/quolldb/quoll/internal/wire"
)

// Writer writes a backup. It makes one Write of each block, which is no longer than some hundred KiB beyond what its caller gives it as bytes, and keeps nothing back.
// An error is final.
type Writer struct {
	w      io.Writer
	sum    hash.Hash
	counts Counts
	buf    []byte
	number uint64 // of the last value that was written in pieces
}

// maxKept bounds the buffer that is kept from one chunk to the next.
const maxKept = 1 << 20

// NewWriter writes the header to w.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	out := &Writer{w: w, sum: sha256.New()}
	out.buf = append(out.buf, magic...)
	out.buf = binary.LittleEndian.AppendUint32(out.buf, Version)
	out.buf = binary.LittleEndian.AppendUint32(out.buf, crc32.Checksum(out.buf, castagnoli))
	start := out.begin(kindHeader)
	out.buf = append(out.buf, body...)
	return out, out.end(start)
}

// Write writes a chunk. Chunks come in ascending order of slots. It borrows everything.
func (w *Writer) Write(c *Chunk) error {
	number := w.number
	for i := range c.Records {
		w.counts.add(&c.Records[i])
		if err := w.value(&c.Records[i].State); err != nil {
			return err
		}
	}
	start := w.begin(kindChunk)
	w.buf = appendChunk(w.buf, c, number)
	return w.end(start)
}

// Close ends a backup that is complete. It does not close what it writes to.
func (w *Writer) Close() error {
	digest := w.sum.Sum(nil)
	start := w.begin(kindTrailer)
	w.buf = wire.AppendUvarint(w.buf, w.counts.Live)
	w.buf = wire.AppendUvarint(w.buf, w.counts.Tombstones)
	w.buf = wire.AppendUvarint(w.buf, w.counts.Bytes)
	w.buf = append(w.buf, digest...)
	return w.end(start)
}

// Fail ends a backup that cannot be completed, in place of Close.
func (w *Writer) Fail(reason string) error {
	start := w.begin(kindFailure)
	w.buf = append(w.buf, reason...)
	return w.end(start)
}

// begin begins a block; its body is appended to w.buf.
func (w *Writer) begin(k kind) (start int) {
	start = len(w.buf)
	w.buf = append(w.buf, byte(k), 0, 0, 0, 0, 0, 0, 0, 0)
	return start
}

// end completes the block and writes what is in w.buf.
func (w *Writer) end(start int) error {
	block := w.buf[start:]
	size := len(block) - blockHeader
	if size > maxBlock {
		return fmt.Errorf("a record of %d bytes is too large for a backup, which may have %d", size, maxBlock)
	}
	binary.LittleEndian.PutUint32(block[1:], uint32(size))
	binary.LittleEndian.PutUint32(block[5:], checksum(block[:5], block[blockHeader:]))
	w.sum.Write(w.buf)
	_, err := w.w.Write(w.buf)
	if w.buf = w.buf[:0]; cap(w.buf) > maxKept {
		w.buf = nil
	}
	return err
}

// checksum is that of a block: of its kind and length, and its body.
func checksum(head, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, body)
}
