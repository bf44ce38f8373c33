package front

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/quolldb/quoll/internal/tlsio"
	"github.com/quolldb/quoll/proxy/route"
)

// Serve accepts connections until Shutdown, when it returns ErrServerClosed, or
// until the listener fails, or clients cannot be served any more. It closes the listener. Several listeners may be
// served at a time.
func (s *Server) Serve(listener net.Listener) error {
	return s.serve(listener, func(conn net.Conn) { s.accept(conn, nil, false) })
}

// ServeReplica is Serve, or ServeTLS if there is a config, for a port that is another one to sessions: see Conn.AtReplica.
func (s *Server) ServeReplica(listener net.Listener, config *tls.Config) error {
	return s.serve(listener, func(conn net.Conn) {
		if config == nil {
			s.accept(conn, nil, true)
		} else {
			s.shake(conn, config, true)
		}
	})
}

// serve gives each new connection of a listener to begin.
func (s *Server) serve(listener net.Listener, begin func(net.Conn)) error {
	defer listener.Close()
	if !s.addListener(listener) {
		return ErrServerClosed
	}
	defer s.removeListener(listener)

	var pause time.Duration
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			pause = 0
			begin(conn)
		case s.closing.Load():
			return ErrServerClosed
		case s.failure.Load() != nil:
			return *s.failure.Load()
		case transient(err):
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.cfg.Logger.Error("cannot accept a client; will try again. If this stays so, raise the limit of open files (ulimit -n)",
				"error", err, "pause", pause)
			select {
			case <-time.After(pause):
			case <-s.ctx.Done():
			}
		default:
			return fmt.Errorf("proxy: accepting clients on %s: %w", listener.Addr(), err)
		}
	}
}

// transient reports whether an accept error is one that goes away by itself.
func transient(err error) bool {
	for _, e := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// accept starts to serve a new connection, which is encrypted unless secure is nil.
func (s *Server) accept(conn net.Conn, secure *tlsio.Conn, replica bool) {
	c, err := s.admit(conn, secure, replica)
	if err == nil {
		s.stats.Accepted.Add(1)
		s.strangers.bound(s.settings.Load().MaxClients)
		if !s.loop.adopt(c) {
			c.dedicate()
			s.running.Go(c.serve)
		}
		return
	}
	if errors.Is(err, errMaxClients) {
		s.stats.Rejected.Add(1)
		refuse(conn, secure, err)
	}
	conn.Close()
}

// refuse tells a client why it is not served. The socket's buffer is empty: this does not block.
func refuse(conn net.Conn, secure *tlsio.Conn, reason error) {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	last := stream{Conn: conn, tls: secure}
	_, _ = last.writeOnce(route.AppendReply(nil, reason))
	last.sealEnd()
}

// admit registers a connection, unless there are too many or the server closes.
func (s *Server) admit(conn net.Conn, secure *tlsio.Conn, replica bool) (*Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return nil, ErrServerClosed
	}
	if len(s.conns) >= s.settings.Load().MaxClients {
		return nil, errMaxClients
	}
	c := newConn(s, conn, secure, s.nextID.Add(1), replica)
	s.conns[c.id] = c
	s.stats.Clients.Add(1)
	s.running.Add(1)
	return c, nil
}

// leave is the end of a connection.
func (s *Server) leave(c *Conn) {
	c.outbox.close(c)
	c.session.Closed()
	c.memory.end(s)
	s.strangers.leave(c)
	s.mu.Lock()
	delete(s.conns, c.id)
	s.mu.Unlock()
	s.stats.Clients.Add(-1)
	s.running.Done()
}

func (s *Server) addListener(listener net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.listeners[listener] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Server) removeListener(listener net.Listener) {
	s.mu.Lock()
	delete(s.listeners, listener)
	s.mu.Unlock()
	s.running.Done()
}
