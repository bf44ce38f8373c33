package pipes

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// size is how many bytes one side may be ahead of the other. It is about what sockets on one machine take.
const size = 256 << 10

// Pipe returns the two ends of a connection. As with a socket, what is written waits for the other end to read it, 256 KiB at most, then Write blocks; what was
// written before Close can still be read. Deadlines are those of a net.Conn.
func Pipe() (near, far net.Conn) {
	there, back := newStream(), newStream()
	return &conn{in: back, out: there}, &conn{in: there, out: back}
}

// conn is one end.
type conn struct{ in, out *stream }

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }

// Close implements net.Conn.
func (c *conn) Close() error {
	c.in.abandon()
	c.out.finish()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return address{} }
func (c *conn) RemoteAddr() net.Addr { return address{} }

func (c *conn) SetDeadline(t time.Time) error {
	c.in.reading.set(c.in, t)
	c.out.writing.set(c.out, t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.reading.set(c.in, t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.writing.set(c.out, t)
	return nil
}

// address is that of either end.
type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "this process" }

// stream is one direction of a connection.
type stream struct {
	mu sync.Mutex
	// changed wakes who reads, when there are bytes, and who writes, when there is room: never both wait.
	changed sync.Cond
	buf     []byte // what was written and not read, from start on
	start   int
	// finished: nothing more is written. abandoned: nothing more is read. closed: by this side.
	finished, abandoned bool
	reading, writing    deadline
}

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch waits := len(s.buf) - s.start; {
		case s.abandoned:
			return 0, net.ErrClosed
		case s.reading.over:
			return 0, os.ErrDeadlineExceeded
		case waits > 0 || len(p) == 0:
			n := copy(p, s.buf[s.start:])
			if s.start += n; n == waits {
				s.buf, s.start = s.buf[:0], 0
			}
			if waits >= size {
				s.changed.Signal()
			}
			return n, nil
		case s.finished:
			return 0, io.EOF
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch room := size - (len(s.buf) - s.start); {
		case s.finished:
			return n, net.ErrClosed
		case s.abandoned:
			return n, io.ErrClosedPipe
		case s.writing.over:
			return n, os.ErrDeadlineExceeded
		case len(p) == 0:
			return n, nil
		case room > 0:
			if s.start > 0 && len(s.buf)+min(len(p), room) > cap(s.buf) {
				s.buf, s.start = s.buf[:copy(s.buf, s.buf[s.start:])], 0
			}
			some := min(len(p), room)
			s.buf = append(s.buf, p[:some]...)
			n, p = n+some, p[some:]
			s.changed.Signal()
			continue
		}
		s.changed.Wait()
	}
}

// finish ends the writing.
func (s *stream) finish() { s.end(&s.finished) }

// abandon ends the reading.
func (s *stream) abandon() { s.end(&s.abandoned) }

func (s *stream) end(side *bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*side = true
	s.changed.Broadcast()
}

// deadline is when reading, or writing, is over. It is guarded by the mutex of its stream.
type deadline struct {
	over  bool
	timer *time.Timer
}

func (d *deadline) set(s *stream, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.over = false
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if d.over = left <= 0; d.over {
		s.changed.Broadcast()
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if d.timer == timer { // and not set again meanwhile
			d.over = true
			s.changed.Broadcast()
		}
	})
	d.timer = timer
}
