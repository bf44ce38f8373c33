package resp

import (
	"errors"
	"io"
	"sync"

	"github.com/quolldb/quoll/internal/buffer"
)

const (
	// initialBuffer is what a connection costs while its commands are small.
	initialBuffer = 16 << 10
	// keptBuffer is the size up to which a grown buffer is kept. A larger one is
	// given up as soon as the big command is done.
	keptBuffer = 64 << 10
	// fastGrowth is up to which size a buffer grows by more than doubling: who declares a lot and sends little shall not cost
	// several times as much as he sends.
	fastGrowth = 2 << 20
	// keptSpans is the same for the positions of arguments.
	keptSpans = 1024
	// maxEmptyReads is how often a source may return nothing before it is given up.
	maxEmptyReads = 100
)

// Reader takes the commands of a client out of a byte stream. It owns one buffer:
// the arguments it returns are views into that, and a command that arrives in
// pieces is parsed where the last piece ended. A Reader belongs to one goroutine.
type Reader struct {
	src    io.Reader
	limits Limits

	buf     []byte
	small   []byte // the buffer while commands are small, of smallBuffers; nil while the Reader rests
	start   int    // where the first command that is not complete begins
	end     int    // behind the last byte received
	readErr error

	request parser
	fault   error // the protocol error that ended the stream
	full    bool  // the last batch was, and more may have arrived

	resized func(bytes int) // nil for nobody
}

// NewReader returns a Reader of src within the given limits.
func NewReader(src io.Reader, limits Limits) *Reader {
	r := &Reader{
		src:     src,
		limits:  limits.withDefaults(),
		request: parser{bulk: -1},
	}
	r.wake()
	return r
}

// smallBuffers are those that Readers have given back when they began to rest.
var smallBuffers = sync.Pool{New: func() any { return new([initialBuffer]byte) }}

// wake takes a buffer.
func (r *Reader) wake() {
	r.small = smallBuffers.Get().(*[initialBuffer]byte)[:]
	r.buf = r.small
}

// Rest gives the buffer back until more is read, if nothing is in it that has not been returned: for a client that waits for long. The commands of b, the batch that was filled last, are not
// valid any more.
func (r *Reader) Rest(b *Batch) {
	if r.small == nil || r.end > r.start || r.fault != nil {
		return
	}
	b.reset(true)
	r.drop()
	smallBuffers.Put((*[initialBuffer]byte)(r.small))
	r.buf, r.small, r.start, r.end = nil, nil, 0, 0
	r.report()
}

// OnResize sets what is called with the length of the buffer when it has changed, by the goroutine that reads.
func (r *Reader) OnResize(resized func(bytes int)) { r.resized = resized }

// SetLimits changes the limits. They apply to lengths that are not read yet.
func (r *Reader) SetLimits(limits Limits) { r.limits = limits.withDefaults() }

// ReadBatch replaces the contents of b by all commands that have arrived
// completely, MaxBatch at most. It blocks only while there is none, and makes no
// read when there is one. The arguments are valid until the next call.
//
// The error is a *ProtocolError, which stays; io.EOF at the end of the stream, or
// io.ErrUnexpectedEOF if that is inside a command; else the error of the
// source. After one that passes, such as a deadline, ReadBatch may be called
// again. Commands that were complete before the error come first: with an error b
// is empty.
func (r *Reader) ReadBatch(b *Batch) error {
	b.reset(r.shrink())
	for {
		r.parseBuffered(b)
		if b.Len() > 0 {
			return nil
		}
		if r.fault != nil {
			return r.fault
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// Buffered reports whether ReadBatch may return commands, or an error, that have arrived
// already, so that it need not wait for the source.
func (r *Reader) Buffered() bool {
	return r.fault != nil || r.readErr != nil || r.full && r.end > r.start
}

// Pending returns how many bytes were received behind the commands of the last batch.
func (r *Reader) Pending() int { return r.end - r.start }

// Expected returns how many bytes the command that is not complete has at least, as far as that has been declared or received.
func (r *Reader) Expected() int { return max(r.request.known(), r.Pending()) }

// parseBuffered adds the complete commands of the buffer to b, up to the first
// fault.
func (r *Reader) parseBuffered(b *Batch) {
	limit := MaxBatch
	if r.limits.Unauthenticated {
		limit = 1
	}
	r.full = false
	for r.fault == nil {
		if r.full = b.Len() == limit; r.full {
			return
		}
		data := r.buf[r.start:r.end]
		var complete bool
		if complete, r.fault = r.request.parse(data, &r.limits); !complete {
			return
		}
		if len(r.request.spans) > 0 {
			b.add(data, r.request.spans)
		}
		r.start += r.request.pos
		r.request.reset()
	}
}

// fill reads once more from the source.
func (r *Reader) fill() error {
	for range maxEmptyReads {
		if err := r.readErr; err != nil {
			r.readErr = nil
			if errors.Is(err, io.EOF) && r.end > r.start {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		if r.small == nil {
			r.wake()
		}
		r.makeRoom()
		var n int
		n, r.readErr = r.src.Read(r.buf[r.end:])
		r.end += n
		if n > 0 {
			return nil
		}
	}
	return io.ErrNoProgress
}

// makeRoom moves the incomplete command to the front of the buffer, and grows the
// buffer when the command fills half of it and does not fit. The new size is a
// small multiple of what was received, whatever length was declared, and twice that at most once it is much.
func (r *Reader) makeRoom() {
	if r.start > 0 {
		r.start, r.end = 0, buffer.Copy(r.buf, r.buf[r.start:r.end])
	}
	received, size := r.end, len(r.buf)
	known := r.request.known()
	enough := size / 2
	if size >= fastGrowth {
		enough += size / 4
	}
	if received < enough || received < known && known <= size {
		return
	}
	n := max(2*size, min(known, 8*received, fastGrowth))
	grown := buffer.Get(n)[:n]
	buffer.Copy(grown, r.buf[:received])
	r.drop()
	r.buf = grown
	r.report()
}

// shrink gives up a buffer that a big command has made large. It reports whether
// it did.
func (r *Reader) shrink() bool {
	rest := r.buf[r.start:r.end]
	if len(r.buf) <= keptBuffer || len(rest) > initialBuffer/2 {
		return false
	}
	r.start, r.end = 0, copy(r.small, rest)
	r.drop()
	r.buf = r.small
	r.report()
	return true
}

// report tells how long the buffer is now.
func (r *Reader) report() {
	if r.resized != nil {
		r.resized(len(r.buf))
	}
}

// drop gives up a large buffer.
func (r *Reader) drop() {
	if len(r.buf) > initialBuffer {
		buffer.Put(r.buf)
	}
}
