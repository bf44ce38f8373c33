package front

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

const (
	// writeChunk is how much a client must accept within the write time-out.
	writeChunk = 256 << 10
	// lingerTime and lingerBytes bound how long a closed connection still takes
	// what the client sends.
	lingerTime  = 250 * time.Millisecond
	lingerBytes = 1 << 20
)

// stream is the bytes of a connection, on which a client that does not read, or does not
// write for too long, is given up.
type stream struct {
	net.Conn
	writeTimeout, idleTimeout time.Duration
	// closing is the server's: no read begins once it is set.
	closing *atomic.Bool
	// slow is set when a write took too long.
	slow bool

	// socket, if not nil, is read without waiting: errNotNow.
	socket *socket
	// nonblocking: others wait as well. Nothing waits for the client to take what is sent to it,
	// and it is read from once, which readable stands for.
	nonblocking, readable bool
	// pacer, if not nil, may pause before each read.
	pacer *pacer
	// congested: the client did not take everything that was sent without waiting.
	congested bool
}

// send writes p, or as much of it as goes without waiting if the connection is nonblocking.
func (s *stream) send(p []byte) (int, error) {
	if !s.nonblocking {
		s.congested = false
		return s.Write(p)
	}
	n, err := s.socket.write(p)
	if s.congested = n < len(p); errors.Is(err, errNotNow) {
		err = nil
	}
	return n, err
}

// Write writes p in chunks, each within the write time-out.
func (s *stream) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		if err := s.SetWriteDeadline(time.Now().Add(s.writeTimeout)); err != nil {
			return written, err
		}
		n, err := s.Conn.Write(p[written:min(len(p), written+writeChunk)])
		written += n
		if err != nil {
			s.slow = errors.Is(err, os.ErrDeadlineExceeded)
			return written, err
		}
	}
	return written, nil
}

// Read reads, for as long as the idle time-out allows. With a socket it does not wait: the
// loop knows who is idle.
func (s *stream) Read(p []byte) (int, error) {
	if s.idleTimeout > 0 && s.socket == nil {
		if err := s.SetReadDeadline(time.Now().Add(s.idleTimeout)); err != nil {
			return 0, err
		}
	}
	// wake sets closing first and the deadline then: it is seen here or there.
	if s.closing.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	if s.nonblocking && !s.readable {
		return 0, errNotNow
	}
	s.readable = false
	if s.pacer != nil && s.pacer.pause() {
		p = p[:min(len(p), bulkRead)]
	}
	if s.socket != nil {
		return s.socket.read(p)
	}
	return s.Conn.Read(p)
}

// wake ends a read that is waiting, once closing is set.
func (s *stream) wake() { _ = s.SetReadDeadline(time.Unix(1, 0)) }

// linger ends the connection so that the last reply arrives. If a socket is
// closed while input waits in it, the system resets the connection, and the reset
// can overtake the reply: so the write side is closed first, and the client given
// a moment to follow.
func (s *stream) linger() {
	half, ok := s.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = s.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, io.LimitReader(s.Conn, lingerBytes))
}
