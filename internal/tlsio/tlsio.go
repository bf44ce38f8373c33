// Package tlsio puts TLS on a connection whose owner decides when to wait. Package crypto/tls waits for the socket in each call. Here reading waits at most
// for what the owner says, takes all that has come with it, and may be tried again when more has; writing is two steps, to seal bytes and to flush what is sealed, of
// which the second may do a part. So an event loop can serve TLS connections, and what is sealed together leaves with one system call.
package tlsio

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
)

// ErrNotNow may be returned by a source that has nothing at the moment. Reading can be tried again after it.
var ErrNotNow error = notNow{}

// notNow is an error that crypto/tls does not keep: it passes.
type notNow struct{}

func (notNow) Error() string   { return "tls: nothing has come yet" }
func (notNow) Timeout() bool   { return false }
func (notNow) Temporary() bool { return true }

var _ net.Error = notNow{}

// errBacklog ends a connection whose other side asks for answers of TLS itself (new keys), again and again, and takes none of them.
var errBacklog = errors.New("tls: the other side does not take what it asks for")

// mostUnsent is how many bytes may be sealed and not written. Seal takes Portion at most.
const mostUnsent = 2 * Portion

// Portion is how many bytes should be sealed at a time. It flushes before the next ones.
const Portion = 128 << 10

// Conn is one side of a TLS connection. One goroutine may read while another one seals and flushes.
type Conn struct {
	tls    *tls.Conn
	source io.Reader
	// ask: the source may be asked. full: the last Read filled its memory, and there may be more that has come. Both belong to who reads.
	ask, full bool

	open   atomic.Bool // the handshake is over
	unsent atomic.Int64
	mu     sync.Mutex
	sealed []byte // records that are not written, lent by package buffer
}

// Server is the side of a TLS connection that was dialed.
func Server(conn net.Conn, config *tls.Config) *Conn {
	c := &Conn{source: conn}
	c.tls = tls.Server(&carrier{conn, c}, config)
	return c
}

// Client is the side of a TLS connection that has dialed.
func Client(conn net.Conn, config *tls.Config) *Conn {
	c := &Conn{source: conn}
	c.tls = tls.Client(&carrier{conn, c}, config)
	return c
}

// Handshake does the handshake, for which it waits, until ctx ends: then the connection is closed. It comes before everything else.
func (c *Conn) Handshake(ctx context.Context) error {
	c.ask = true
	err := c.tls.HandshakeContext(ctx)
	c.open.Store(true)
	return err
}

// State returns what the handshake has agreed on.
func (c *Conn) State() tls.ConnectionState { return c.tls.ConnectionState() }

// SetSource says what the bytes of the connection are read from, after the handshake, instead of the connection itself.
func (c *Conn) SetSource(source io.Reader) { c.source = source }

// Read reads what has come. It asks the source until there is something, or that has an error, and not again after that.
func (c *Conn) Read(p []byte) (int, error) {
	c.ask, c.full = true, false
	n, err := c.tls.Read(p)
	c.ask = false
	for err == nil && n < len(p) {
		var more int
		more, err = c.tls.Read(p[n:])
		n += more
	}
	if err == nil {
		c.full = true
	} else if n > 0 && errors.Is(err, ErrNotNow) {
		err = nil
	}
	return n, err
}

// Pending reports whether Read may return something without asking the source.
func (c *Conn) Pending() bool { return c.full }

// Seal encrypts bytes, behind what is sealed already.
func (c *Conn) Seal(p []byte) error {
	_, err := c.tls.Write(p)
	return err
}

// SealEnd seals that nothing follows.
func (c *Conn) SealEnd() error { return c.tls.CloseWrite() }

// Unsent is how many bytes are sealed and not written. Any goroutine may ask.
func (c *Conn) Unsent() int { return int(c.unsent.Load()) }

// Flush writes what is sealed, to w, which may take a part of it: the rest stays, and the error of w is returned.
func (c *Conn) Flush(w io.Writer) error {
	if c.unsent.Load() == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := w.Write(c.sealed)
	if n == len(c.sealed) {
		buffer.Put(c.sealed)
		c.sealed = nil
	} else {
		c.sealed = c.sealed[:buffer.Copy(c.sealed, c.sealed[n:])]
	}
	c.unsent.Store(int64(len(c.sealed)))
	return err
}

// carrier is what crypto/tls reads from and writes to.
type carrier struct {
	net.Conn
	secure *Conn
}

// Read implements net.Conn.
func (c *carrier) Read(p []byte) (int, error) {
	if !c.secure.ask {
		return 0, ErrNotNow
	}
	return c.secure.source.Read(p)
}

// Write implements net.Conn. After the handshake it keeps the bytes, for Flush.
func (c *carrier) Write(p []byte) (int, error) {
	if !c.secure.open.Load() {
		return c.Conn.Write(p)
	}
	s := c.secure
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sealed)+len(p) > mostUnsent {
		return 0, fmt.Errorf("%w: %d bytes wait", errBacklog, len(s.sealed))
	}
	if s.sealed == nil {
		s.sealed = buffer.Get(len(p))
	}
	s.sealed = append(buffer.Reserve(s.sealed, len(p)), p...)
	s.unsent.Store(int64(len(s.sealed)))
	return len(p), nil
}

// SetWriteDeadline implements net.Conn: whoever flushes sets it, crypto/tls does not.
func (c *carrier) SetWriteDeadline(t time.Time) error {
	if c.secure.open.Load() {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}
