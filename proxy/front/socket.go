package front

import (
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/quolldb/quoll/internal/rawio"
	"github.com/quolldb/quoll/internal/tlsio"
)

// errNotNow says that a socket has nothing to read, or no room, at the moment. TLS tries again after it.
var errNotNow = tlsio.ErrNotNow

// socket reads and writes a connection without waiting. The connection can be closed
// at any moment by others: its descriptor is used only under the lock of package net,
// so that it is never that of another connection.
type socket struct {
	raw syscall.RawConn
	// drained: the last read took everything there was, and the poller will tell of more.
	drained bool
	// ending: the client sends no more than what waits, and the poller has told of that.
	ending bool

	// A call and its outcome. The functions are made once, since a closure is an allocation.
	p             []byte
	n             int
	err           error
	receive, send func(fd uintptr)
	// remind makes the poller tell of the socket again, if there is something to read.
	remind func(fd uintptr)
}

// newSocket returns the socket of a connection, nil if it has none of its own.
func newSocket(conn net.Conn) *socket {
	with, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := with.SyscallConn()
	if err != nil {
		return nil
	}
	s := &socket{raw: raw, drained: true}
	s.receive = func(fd uintptr) { s.n, s.err = rawio.Read(fd, s.p) }
	s.send = func(fd uintptr) { s.n, s.err = rawio.Write(fd, s.p) }
	return s
}

// read is net.Conn's Read, but for errNotNow.
func (s *socket) read(p []byte) (int, error) {
	p = p[:min(len(p), rawio.Most)]
	n, err := s.do(s.receive, p)
	// Fewer bytes than there was room for were all. The end of the stream is behind them,
	// and when it came with them nobody will tell of it again.
	s.drained = errors.Is(err, errNotNow) || n < len(p) && !s.ending
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// write writes what there is room for: errNotNow if that is not all.
func (s *socket) write(p []byte) (int, error) {
	n, err := s.do(s.send, p)
	if err == nil && n < len(p) {
		err = errNotNow
	}
	return n, err
}

func (s *socket) do(call func(fd uintptr), p []byte) (int, error) {
	s.p, s.n, s.err = p, 0, nil
	err := s.raw.Control(call)
	if s.p = nil; err == nil {
		err = s.err
	}
	if errors.Is(err, syscall.EAGAIN) {
		err = errNotNow
	}
	return s.n, err
}
