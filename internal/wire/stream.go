package wire

import (
	"fmt"
	"io"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
)

// Source makes the frames of a stream: what is too much to be queued, and is made as the connection has room for it. Streams
// of a connection are sent one after the other. What is queued goes before the next piece of a stream, and no more than
// a few pieces are on their way at a time, so others hardly wait.
//
// The writer of the connection calls Next and End, one at a time. No method may wait for long, nor send on the connection.
type Source interface {
	// Next appends the next piece of the stream to dst: finished frames, StreamPiece bytes or a little more. more is false with the
	// last one. A panic costs the connection.
	Next(dst []byte) (frames []byte, more bool)
	// Queued is how many bytes of the stream count as queued (Link.Queued): what somebody has sent and waits for, and not what is sent beside. Any goroutine
	// calls it.
	Queued() int
	// End is called once, when nothing more is asked: the last piece was written, or the connection is at its end.
	End()
}

const (
	// StreamPiece is about how many bytes a piece of a stream has.
	StreamPiece = 256 << 10
	// pieceRoom is what stands around a piece: the heads of its frames.
	pieceRoom = 1 << 10
	// streamWindow is how many pieces may be on their way. The peer says of each that it has been handled.
	streamWindow = 4
	// streamRetry is after how long without such an answer one more piece is sent: an answer may have been dropped.
	streamRetry = time.Second
	// maxStreams is how many streams a connection has at a time, of which all but one wait.
	maxStreams = 64
)

// streams are what a connection sends as it has room.
type streams struct {
	list []Source
	// open is how many pieces the peer has not answered, answered the clock when that became less, or a piece was sent in spite of it.
	open     int
	answered time.Duration
	buf      []byte // of the writer: lent as long as there are streams
}

// stream adds a stream: after it End will be called, unless there is an error.
func (o *outbox) stream(s Source) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.mode != outboxOpen:
		return ErrDown
	case len(o.streams.list) >= maxStreams:
		return ErrBacklog
	}
	o.streams.list = append(o.streams.list, s)
	o.changed.Signal()
	return nil
}

// streaming returns how many streams there are.
func (o *outbox) streaming() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.streams.list)
}

// queued returns how many bytes of the streams count as queued.
func (s *streams) queued() (bytes int) {
	for _, source := range s.list {
		bytes += source.Queued()
	}
	return bytes
}

// canStream reports whether a piece of a stream may be sent. It becomes true without a signal when an answer is overdue, which is noticed with the
// next ping, or answer to one.
func (o *outbox) canStream() bool {
	s := &o.streams
	return len(s.list) > 0 && o.mode == outboxOpen && (s.open < streamWindow || clock()-s.answered > streamRetry)
}

// taken notes that the peer has handled a piece.
func (o *outbox) taken() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streams.open = max(0, o.streams.open-1)
	o.streams.answered = clock()
	o.changed.Signal()
}

// nextPiece returns the next piece of the streams, nil if none may be sent now. It is valid until the next call.
func (o *outbox) nextPiece() (frames []byte, err error) {
	defer capturePanic(&err)
	s := &o.streams
	o.mu.Lock()
	if !o.canStream() {
		idle := len(s.list) == 0
		o.mu.Unlock()
		if idle && s.buf != nil {
			buffer.Put(s.buf)
			s.buf = nil
		}
		return nil, nil
	}
	source := s.list[0]
	if s.open++; s.open > streamWindow {
		s.answered = clock()
	}
	o.mu.Unlock()

	if s.buf == nil {
		s.buf = buffer.Get(StreamPiece + pieceRoom)
	}
	frames, more := source.Next(s.buf[:0])
	frames = appendFrame(frames, frameMark, nil)
	if s.buf = frames; cap(s.buf) > keepSize {
		s.buf = nil
	}
	if !more {
		o.mu.Lock()
		s.list = append(s.list[:0], s.list[1:]...)
		o.mu.Unlock()
		source.End()
	}
	return frames, nil
}

// writePiece writes the next piece of the streams, if one may be sent.
func (o *outbox) writePiece(w io.Writer) error {
	frames, err := o.nextPiece()
	if err != nil || len(frames) == 0 {
		return err
	}
	err = o.writeParts(w, frames)
	o.less.Broadcast()
	return err
}

// endStreams ends what is left of the streams. The outbox takes none any more.
func (o *outbox) endStreams() {
	o.mu.Lock()
	list := o.streams.list
	o.streams.list = nil
	o.mu.Unlock()
	for _, s := range list {
		s.End()
	}
}

// Stream sends a stream on the connection of the moment. After an error (ErrDown, or ErrBacklog when very many streams wait) nothing was called of it.
func (l *Link) Stream(s Source) error {
	if current := l.current.Load(); current != nil {
		return current.out.stream(s)
	}
	return ErrDown
}

// Streaming returns how many streams are being sent, or wait.
func (l *Link) Streaming() int {
	if s := l.current.Load(); s != nil {
		return s.out.streaming()
	}
	return 0
}

// Stream sends a stream. After an error (ErrDown, or ErrBacklog when very many streams wait) nothing was called of it.
func (c *ServerConn) Stream(s Source) error { return c.out.stream(s) }

// mark answers that what came before it is handled, or takes such an answer.
func (p *peer) mark(f frame) error {
	switch {
	case len(f.body) > 0:
		return fmt.Errorf("%w: a mark with %d bytes", ErrProtocol, len(f.body))
	case f.typ == frameTaken:
		p.out.taken()
	default:
		_ = p.out.add(appendFrame(nil, frameTaken, nil)) // without room the peer goes on after a while
	}
	return nil
}
