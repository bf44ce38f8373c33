package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// windowSize is how much of a segment is in memory while it is read.
const windowSize = 4 << 20

// window reads a segment from its beginning to its end.
type window struct {
	seg *segment
	buf []byte
	at  int64 // offset of buf in the file
}

// view returns n bytes at an offset, or what the file has of them. They are valid until
// the next view. n is not above windowSize.
func (w *window) view(seg *segment, offset int64, n int) ([]byte, error) {
	if skip := offset - w.at; seg == w.seg && skip >= 0 && skip+int64(n) <= int64(len(w.buf)) {
		return w.buf[skip:][:n], nil
	}
	if size := int(min(windowSize, seg.size)); cap(w.buf) < size {
		w.buf = make([]byte, size)
	}
	w.seg, w.at = seg, offset
	got, err := seg.file.ReadAt(w.buf[:cap(w.buf)], offset)
	w.buf = w.buf[:got]
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %s cannot be read: %w", ErrCorrupt, seg.name(), err)
	}
	return w.buf[:min(n, got)], nil
}

// frame returns the frame at an offset, or none if there is no valid one. The payload is
// valid until the next one.
func (w *window) frame(seg *segment, offset int64) (h header, payload []byte, valid bool, err error) {
	b, err := w.view(seg, offset, headerSize)
	if err != nil || len(b) < headerSize {
		return header{}, nil, false, err
	}
	h, valid = decodeHeader(b, seg.id)
	if !valid || h.length > maxFrame || h.flags&^flagSeal != 0 || (h.length == 0) != (h.flags == flagSeal) {
		return header{}, nil, false, nil
	}
	n := headerSize + int(h.length)
	if b, err = w.view(seg, offset, n); err != nil || len(b) < n || checksum(b[headerSize:]) != h.crc {
		return header{}, nil, false, err
	}
	return h, b[headerSize:], true, nil
}

// search looks for headers of frames at any place from an offset on. It returns how
// many there are and the highest seq that one of them says was synced.
func (w *window) search(seg *segment, offset int64) (found int, synced uint64, err error) {
	id := le.AppendUint64(nil, seg.id)
	for {
		b, err := w.view(seg, offset, windowSize)
		if err != nil || len(b) < headerSize {
			return found, synced, err
		}
		// The last ones are looked at with what follows them.
		end := len(b) - headerSize + 1
		for at := 0; at < end; at++ {
			i := bytes.Index(b[at:], id)
			if at += i; i < 0 || at >= end {
				break
			}
			if h, valid := decodeHeader(b[at:], seg.id); valid {
				found++
				synced = max(synced, h.synced)
			}
		}
		offset += int64(end)
	}
}
