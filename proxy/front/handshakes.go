package front

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/tlsio"
)

const (
	// mostHandshakes is how many handshakes there are at a time. Each has a goroutine.
	mostHandshakes = 256
	// handshakeGrace is how long one has when others wait for its turn. Then it is ended: it stalls.
	handshakeGrace = 500 * time.Millisecond
)

// ServeTLS is Serve for clients that speak TLS.
func (s *Server) ServeTLS(listener net.Listener, config *tls.Config) error {
	return s.serve(listener, func(conn net.Conn) { s.shake(conn, config, false) })
}

// shake begins a handshake, in a goroutine, since a client may take its time. It waits while there are too many.
func (s *Server) shake(conn net.Conn, config *tls.Config, replica bool) {
	h := &s.handshakes
	s.stats.HandshakesStalled.Add(h.enter(s.ctx.Done()))
	entry := h.begin(conn)
	s.running.Go(func() {
		secure := tlsio.Server(conn, config)
		err := s.handshake(conn, secure)
		h.end(entry)
		if err == nil {
			s.accept(conn, secure, replica)
			return
		}
		conn.Close()
	})
}

// handshake does one within its time.
func (s *Server) handshake(conn net.Conn, secure *tlsio.Conn) error {
	if s.closing.Load() { // endAll may have been before
		return ErrServerClosed
	}
	if err := conn.SetDeadline(time.Now().Add(s.cfg.HandshakeTimeout)); err != nil {
		return err
	}
	err := secure.Handshake(context.Background())
	if err != nil {
		s.stats.HandshakesFailed.Add(1)
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			s.stats.HandshakesStalled.Add(1)
		}
		s.cfg.Logger.Debug("a client's TLS handshake failed", "client", conn.RemoteAddr(), "err", err)
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// handshakes are those under way. They are few: one that stalls makes room for others.
type handshakes struct {
	room chan struct{}

	mu   sync.Mutex
	open list.List // of *handshake, the oldest first
}

type handshake struct {
	conn  net.Conn
	begun time.Time
	ended bool // since it stalled
}

func newHandshakes() handshakes { return handshakes{room: make(chan struct{}, mostHandshakes)} }

// enter takes up room for a handshake, and returns how many were ended for it.
func (h *handshakes) enter(done <-chan struct{}) (ended uint64) {
	select {
	case h.room <- struct{}{}:
		return 0
	default:
	}
	for {
		grace, stalls := h.oldest()
		if stalls {
			ended++
		}
		step := time.NewTimer(max(grace, time.Millisecond))
		select {
		case h.room <- struct{}{}:
			step.Stop()
			return ended
		case <-step.C:
		case <-done:
			h.room <- struct{}{} // all of them are ended
			step.Stop()
			return ended
		}
	}
}

// oldest ends the oldest handshake if that stalls, else it says how long it has.
func (h *handshakes) oldest() (grace time.Duration, stalls bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for entry := h.open.Front(); entry != nil; entry = entry.Next() {
		oldest := entry.Value.(*handshake)
		if oldest.ended {
			continue
		}
		if left := handshakeGrace - time.Since(oldest.begun); left > 0 {
			return left, false
		}
		oldest.ended = true
		oldest.conn.Close()
		return handshakeGrace, true
	}
	return handshakeGrace, false
}

func (h *handshakes) begin(conn net.Conn) *list.Element {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open.PushBack(&handshake{conn: conn, begun: time.Now()})
}

func (h *handshakes) end(entry *list.Element) {
	h.mu.Lock()
	h.open.Remove(entry)
	h.mu.Unlock()
	<-h.room
}

func (h *handshakes) endAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for entry := h.open.Front(); entry != nil; entry = entry.Next() {
		entry.Value.(*handshake).conn.Close()
	}
}
