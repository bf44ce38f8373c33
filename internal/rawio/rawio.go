// Package rawio reads and writes sockets with system calls that the Go scheduler is not told of.
//
// Before a system call a goroutine tells the scheduler that it may take long, so that others can have its processor meanwhile. A thread
// of the runtime (sysmon) looks after such goroutines: it sleeps while the process has nothing to do, is woken by the first system
// call after that, and then looks every 20 µs. A server that is asked for a little, again and again, has nothing to do some
// thousand times a second: with one command at a time that thread took a fifth of a node's CPU time, and each
// time it took a processor away from somebody else.
//
// To read what has come, or to write what there is room for, never waits: it copies bytes. So nobody needs to know, as long
// as they are not many.
package rawio

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// Most is how many bytes are read or written at most without telling the scheduler: as many as are
// copied in some ten microseconds, which is how long a garbage collection may have to wait for that.
const Most = 128 << 10

// Conn returns a connection that reads and writes as conn does, but past the scheduler; conn itself if it has no socket of its own. At
// most one goroutine may read at a time, and one write.
func Conn(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	c := &rawConn{TCPConn: tcp, raw: raw}
	c.in.try = func(fd uintptr) bool { return c.in.done(Read(fd, c.in.p)) }
	c.out.try = func(fd uintptr) bool { return c.out.done(Write(fd, c.out.p)) }
	return c
}

type rawConn struct {
	*net.TCPConn
	raw     syscall.RawConn
	in, out call
}

// call is a system call and its outcome. The function is made once, since a closure is an allocation.
type call struct {
	p   []byte
	n   int
	err error
	try func(fd uintptr) bool
}

// done notes the outcome, unless there is none yet.
func (c *call) done(n int, err error) bool {
	c.n, c.err = n, err
	return !errors.Is(err, syscall.EAGAIN)
}

// run waits until the socket is ready, and makes the call.
func (c *call) run(wait func(func(fd uintptr) bool) error, p []byte) (int, error) {
	c.p, c.n, c.err = p, 0, nil
	err := wait(c.try)
	if c.p = nil; err == nil {
		err = c.err
	}
	return c.n, err
}

// Read implements net.Conn.
func (c *rawConn) Read(p []byte) (int, error) {
	n, err := c.in.run(c.raw.Read, p)
	if err != nil {
		return 0, c.failed("read", err)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Write implements net.Conn.
func (c *rawConn) Write(p []byte) (written int, err error) {
	for written < len(p) {
		n, err := c.out.run(c.raw.Write, p[written:])
		if err != nil {
			return written, c.failed("write", err)
		}
		written += n
	}
	return written, nil
}

// failed makes what package net would have said of an error.
func (c *rawConn) failed(op string, err error) error {
	if _, is := errors.AsType[*net.OpError](err); is {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
