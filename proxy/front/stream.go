package front

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/tlsio"
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
	writeTimeout time.Duration
	settings     *atomic.Pointer[Config] // the server's
	in           *atomic.Uint64          // its count of bytes
	// closing is the server's: no read begins once it is set.
	closing *atomic.Bool
	// limited: a read had a time limit once.
	limited bool
	// patient: the idle time-out does not count.
	patient *atomic.Bool
	// slow is set when a write took too long.
	slow bool

	// tls, if not nil, encrypts what goes through the connection and the socket.
	tls *tlsio.Conn
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
	if s.tls != nil {
		return s.sendSealed(p)
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
	for written < len(p) || s.unsent() {
		if err := s.SetWriteDeadline(time.Now().Add(s.writeTimeout)); err != nil {
			return written, err
		}
		n, err := s.writeOnce(p[written:min(len(p), written+writeChunk)])
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
	if s.socket == nil {
		if err := s.limitIdle(); err != nil {
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
	var n int
	var err error
	if s.tls != nil {
		n, err = s.tls.Read(p)
	} else {
		n, err = s.receive(p)
	}
	s.in.Add(uint64(max(n, 0)))
	return n, err
}

// receive reads what the connection carries.
func (s *stream) receive(p []byte) (int, error) {
	if s.socket != nil {
		return s.socket.read(p)
	}
	return s.Conn.Read(p)
}

// limitIdle says how long the next read may wait.
func (s *stream) limitIdle() error {
	limit := s.settings.Load().IdleTimeout
	if s.patient.Load() {
		limit = 0
	}
	if s.limited = s.limited || limit > 0; !s.limited {
		return nil
	}
	var until time.Time // for ever
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	return s.SetReadDeadline(until)
}

// wake ends a read that is waiting, once closing is set.
func (s *stream) wake() { _ = s.SetReadDeadline(time.Unix(1, 0)) }

// linger ends the connection so that the last reply arrives. If a socket is
// closed while input waits in it, the system resets the connection, and the reset
// can overtake the reply: so the write side is closed first, and the client given
// a moment to follow.
func (s *stream) linger() {
	s.sealEnd()
	half, ok := s.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = s.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, io.LimitReader(s.Conn, lingerBytes))
}
