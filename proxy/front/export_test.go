package front

import (
	"io"
	"net"
	"time"
)

// What the tests in front_test, which use the sessions of package session, need to know of the inside.

const (
	GateOps        = gateOps
	MostHandshakes = mostHandshakes
	RoundOps       = roundOps
	PartOps        = partOps
)

var ErrInternal = errInternal

// WithPatience returns a configuration whose operations count for so long.
func WithPatience(patience time.Duration) Config { return Config{patience: patience} }

// NothingUnderWay reports whether no operation counts.
func (s *Server) NothingUnderWay() bool {
	return s.eachGate(func(g *gate) bool { return g.under == 0 && g.oldest == nil && g.newest == nil })
}

// Full reports whether somebody waits for room.
func (s *Server) Full() bool {
	return !s.eachGate(func(g *gate) bool { return !g.waiting })
}

func (s *Server) eachGate(is func(*gate) bool) bool {
	for _, g := range []*gate{s.loop.gate, s.gate} {
		g.mu.Lock()
		ok := is(g)
		g.mu.Unlock()
		if !ok {
			return false
		}
	}
	return true
}

// BulkTurns are the turns of those who send something large.
func (s *Server) BulkTurns() chan struct{} { return s.bulk.turns }

// ConnForTest returns a connection that nobody serves.
func (s *Server) ConnForTest(conn net.Conn) *Conn { return newConn(s, conn, nil, 1, false) }

// ServeOnce reads and answers once, and reports whether the connection goes on.
func (c *Conn) ServeOnce() bool {
	c.received(c.reader.ReadBatch(&c.input))
	return !c.Ending()
}

// memoryConn is a connection whose bytes are in memory. Nothing else of it can be used.
type memoryConn struct {
	net.Conn
	in  io.Reader
	out io.Writer
}

func (c *memoryConn) Read(p []byte) (int, error)       { return c.in.Read(p) }
func (c *memoryConn) Write(p []byte) (int, error)      { return c.out.Write(p) }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }
