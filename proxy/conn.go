package proxy

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

// clientConn is a connection on which a client that does not read, or does not
// write for too long, is given up.
type clientConn struct {
	net.Conn
	writeTimeout, idleTimeout time.Duration
	// closing is the server's: no read begins once it is set.
	closing *atomic.Bool
	// slow is set when a write took too long.
	slow bool

	// socket, if not nil, is read without waiting: errNotNow.
	socket *socket
	// hasty: others wait as well. Nothing waits for the client to take what is sent to it,
	// and it is read from once, which fresh stands for.
	hasty, fresh bool
	// rests, if not nil, are taken before each read.
	rests *rests
	// stuck: the client did not take everything that was sent in haste.
	stuck bool
}

// send writes p, or as much of it as goes without waiting if the connection is hasty.
func (c *clientConn) send(p []byte) (int, error) {
	if !c.hasty {
		c.stuck = false
		return c.Write(p)
	}
	n, err := c.socket.write(p)
	if c.stuck = n < len(p); errors.Is(err, errNotNow) {
		err = nil
	}
	return n, err
}

// Write writes p in chunks, each within the write time-out.
func (c *clientConn) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		if err := c.SetWriteDeadline(time.Now().Add(c.writeTimeout)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(p[written:min(len(p), written+writeChunk)])
		written += n
		if err != nil {
			c.slow = errors.Is(err, os.ErrDeadlineExceeded)
			return written, err
		}
	}
	return written, nil
}

// Read reads, for as long as the idle time-out allows. With a socket it does not wait: the
// front knows who is idle.
func (c *clientConn) Read(p []byte) (int, error) {
	if c.idleTimeout > 0 && c.socket == nil {
		if err := c.SetReadDeadline(time.Now().Add(c.idleTimeout)); err != nil {
			return 0, err
		}
	}
	// wake sets closing first and the deadline then: it is seen here or there.
	if c.closing.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	if c.hasty && !c.fresh {
		return 0, errNotNow
	}
	c.fresh = false
	if c.rests != nil && c.rests.rest() {
		p = p[:min(len(p), bulkRead)]
	}
	if c.socket != nil {
		return c.socket.read(p)
	}
	return c.Conn.Read(p)
}

// wake ends a read that is waiting, once closing is set.
func (c *clientConn) wake() { _ = c.SetReadDeadline(time.Unix(1, 0)) }

// linger ends the connection so that the last reply arrives. If a socket is
// closed while input waits in it, the system resets the connection, and the reset
// can overtake the reply: so the write side is closed first, and the client given
// a moment to follow.
func (c *clientConn) linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, io.LimitReader(c.Conn, lingerBytes))
}
