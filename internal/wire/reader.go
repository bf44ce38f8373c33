package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"sync/atomic"
	"time"
)

const (
	// readSize is how much one system call reads at most as long as frames are small.
	readSize = 64 << 10
	// severalSize is the same for frames that are larger.
	severalSize = 256 << 10
	// keepSize is the largest buffer that is kept for the next large frame.
	keepSize = 4 << 20
)

// frame is a frame that was read. Its body is a view into the reader's buffer,
// valid until the next frame is asked for.
type frame struct {
	typ  FrameType
	body []byte
	age  time.Duration
}

// frameReader cuts a stream into frames. It reads as much as its buffer holds, so
// that one system call delivers many small frames.
type frameReader struct {
	source io.Reader
	// limit is the greatest length of a payload.
	limit int
	// buf[start:end] was read and not yet handed out. The buffer grows as bytes
	// arrive, to at most twice their number, whatever length a frame declares.
	buf        []byte
	start, end int
	ages       ages
	// large is the frame of which parts have come, total its length, 0 if there is none.
	large []byte
	total int
	// within is set while the rest of a frame is waited for.
	within atomic.Bool
	// heard is the clock (a time.Duration) when the last byte came.
	heard atomic.Int64
}

func newFrameReader(source io.Reader, limit int) *frameReader {
	return &frameReader{source: source, limit: limit, buf: make([]byte, readSize)}
}

// next returns the next frame, waiting for it. The error is io.EOF only between
// two frames.
func (r *frameReader) next() (frame, error) {
	if err := r.fill(headerSize); err != nil {
		return frame{}, err
	}
	length := int64(binary.LittleEndian.Uint32(r.buf[r.start:]))
	sum := binary.LittleEndian.Uint32(r.buf[r.start+4:])
	if length < prefixSize {
		return frame{}, fmt.Errorf("%w: its length is %d", ErrFrame, length)
	}
	if length > int64(r.limit) {
		return frame{}, fmt.Errorf("%w: the peer announces %d bytes, the limit is %d", ErrTooLarge, length, r.limit)
	}
	total := headerSize + int(length)
	if r.end-r.start < total {
		r.within.Store(true)
		err := r.fill(total)
		r.within.Store(r.total > 0)
		if err != nil {
			return frame{}, err
		}
	}
	payload := r.buf[r.start+headerSize : r.start+total : r.start+total]
	if crc32.Checksum(payload, castagnoli) != sum {
		return frame{}, fmt.Errorf("%w in a frame of %d bytes: the network or a program on the way changed it", ErrChecksum, length)
	}
	r.start += total
	return frame{
		typ:  FrameType(payload[0]),
		body: payload[prefixSize:],
		age:  r.ages.age(millis(), binary.LittleEndian.Uint32(payload[1:])),
	}, nil
}

// buffered reports whether next would return without waiting for bytes.
func (r *frameReader) buffered() bool {
	available := r.end - r.start
	return available >= headerSize &&
		int64(available-headerSize) >= int64(binary.LittleEndian.Uint32(r.buf[r.start:]))
}

// fill reads until at least n bytes are there from start on.
func (r *frameReader) fill(n int) error {
	for empty := 0; r.end-r.start < n; {
		r.makeRoom(n)
		count, err := r.source.Read(r.buf[r.end:])
		if count > 0 {
			r.end += count
			r.heard.Store(int64(clock()))
			continue
		}
		if err == io.EOF && r.end > r.start {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if empty++; empty == 100 {
			return io.ErrNoProgress
		}
	}
	return nil
}

// makeRoom makes space behind end for a frame that needs n bytes from start on.
func (r *frameReader) makeRoom(n int) {
	if r.start == r.end {
		r.start, r.end = 0, 0
		if len(r.buf) > keepSize && n <= keepSize {
			r.buf = make([]byte, readSize)
		}
	}
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		// Of frames that are not much larger than readSize, several are read at once.
		grown := make([]byte, min(2*len(r.buf), max(n, severalSize)))
		copy(grown, r.buf)
		r.buf = grown
	}
}
