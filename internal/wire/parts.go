package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/quolldb/quoll/internal/buffer"
)

// A large frame is sent in parts, so that what the transport itself has to say passes between them: a ping that had
// to wait for 64 MiB, or an answer to it, would make a peer look hung that only reads. Users' frames keep their order. Neither
// side works for long on one part without a point at which its process can do something else.

const (
	// wholeSize is the length of payload up to which frames are sent whole, and partSize that of a part.
	wholeSize = 2 << 20
	partSize  = 256 << 10
	// partsTogether is how many parts are written with one call.
	partsTogether = writeSize / partSize
)

// writeParts writes whole frames of which one may be large.
func (o *outbox) writeParts(w io.Writer, frames []byte) error {
	for len(frames) > 0 {
		n := 0 // of frames that are written whole
		for n < len(frames) && n < writeSize {
			size := headerSize + int(binary.LittleEndian.Uint32(frames[n:]))
			if size > headerSize+wholeSize {
				break
			}
			n += size
		}
		var err error
		if n > 0 {
			_, err = w.Write(frames[:n])
			o.wrote(n)
		} else {
			n = headerSize + int(binary.LittleEndian.Uint32(frames))
			err = o.writeLarge(w, frames[:n])
		}
		if err != nil {
			return err
		}
		frames = frames[n:]
	}
	return nil
}

// writeLarge writes one frame in parts.
func (o *outbox) writeLarge(w io.Writer, frame []byte) error {
	var heads [partsTogether][headerSize + prefixSize]byte
	for len(frame) > 0 {
		o.vector = o.vector[:0]
		size := 0
		for i := 0; i < partsTogether && len(frame) > 0; i++ {
			part := frame[:min(len(frame), partSize)]
			frame = frame[len(part):]
			o.vector = append(o.vector, appendPartHead(heads[i][:0], part), part)
			size += len(heads[i]) + len(part)
		}
		o.rest = o.vector
		_, err := o.rest.WriteTo(w)
		clear(o.vector)
		if err != nil {
			return err
		}
		o.wrote(size)
		if err := o.writeUrgent(w); err != nil {
			return err
		}
	}
	return nil
}

// appendPartHead appends what stands before the bytes of a part.
func appendPartHead(dst, part []byte) []byte {
	start := len(dst)
	dst = BeginFrame(dst, framePart)
	sum := crc32.Update(crc32.Checksum(dst[start+headerSize:], castagnoli), castagnoli, part)
	binary.LittleEndian.PutUint32(dst[start:], uint32(prefixSize+len(part)))
	binary.LittleEndian.PutUint32(dst[start+4:], sum)
	return dst
}

// join adds a part to the frame that it belongs to. The frame is whole with its last part, and valid until the
// next one.
func (r *frameReader) join(part frame) (whole frame, complete bool, err error) {
	if r.total == 0 {
		if len(part.body) < headerSize+prefixSize {
			return frame{}, false, fmt.Errorf("%w: a part of %d bytes", ErrFrame, len(part.body))
		}
		length := int64(binary.LittleEndian.Uint32(part.body))
		if length > int64(r.limit) {
			return frame{}, false, fmt.Errorf("%w: the peer announces %d bytes, the limit is %d", ErrTooLarge, length, r.limit)
		}
		if length < prefixSize || FrameType(part.body[headerSize]) < FirstFrameType {
			return frame{}, false, fmt.Errorf("%w: parts of a frame of type %d with %d bytes", ErrFrame, part.body[headerSize], length)
		}
		r.total = headerSize + int(length)
		r.within.Store(true)
	}
	if len(r.large)+len(part.body) > r.total {
		return frame{}, false, fmt.Errorf("%w: parts of %d bytes, %d were announced", ErrFrame, len(r.large)+len(part.body), r.total)
	}
	r.large = r.grow(len(part.body))
	r.large = append(r.large, part.body...)
	if len(r.large) < r.total {
		return frame{}, false, nil
	}
	f := r.large
	r.large, r.total = nil, 0
	r.within.Store(false)
	return frame{
		typ:  FrameType(f[headerSize]),
		body: f[headerSize+prefixSize:],
		age:  r.ages.age(millis(), binary.LittleEndian.Uint32(f[headerSize+1:])),
	}, true, nil
}

// mostAhead is how many times what has come of a large frame there is room for, whatever was announced: memory follows bytes. The more that is, the less is
// copied, and garbage in the end.
const mostAhead = 8

// grow returns the large frame with room for n more bytes.
func (r *frameReader) grow(n int) []byte {
	have := len(r.large)
	if cap(r.large)-have >= n {
		return r.large
	}
	return buffer.Append(make([]byte, 0, min(r.total, max(mostAhead*have, have+n))), r.large)
}
