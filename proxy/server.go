package proxy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quolldb/quoll/proxy/route"
)

// ErrServerClosed is returned by Serve once Shutdown was called.
var ErrServerClosed = errors.New("proxy: server closed")

// Server answers Redis clients with what a Cluster holds. Its methods may be
// called from any goroutine.
type Server struct {
	cfg     ServerConfig
	cluster route.Cluster
	stats   Stats
	started time.Time
	runID   string

	// ctx ends when a Shutdown runs out of patience.
	ctx    context.Context
	cancel context.CancelFunc

	closing atomic.Bool
	failure atomic.Pointer[error] // why nothing more can be served
	loaded  atomic.Bool           // the cluster is there, or was once
	nextID  atomic.Int64
	running sync.WaitGroup // accept loops and sessions

	attacks attacks

	bulk       *bulkReads
	held       atomic.Int64 // by all sessions: see holding
	abandoned  atomic.Int64 // by sessions that ended, since it was collected last
	collecting atomic.Bool

	front front
	alone *gate // of sessions in goroutines: many small commands do not wait behind few long pipelines

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	sessions  map[int64]*session
}

// NewServer returns a server that is not listening yet.
func NewServer(cfg ServerConfig, cluster route.Cluster) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	id := make([]byte, 20)
	rand.Read(id) // never fails
	server := &Server{
		cfg:       cfg.withDefaults(),
		cluster:   cluster,
		started:   time.Now(),
		runID:     hex.EncodeToString(id),
		ctx:       ctx,
		cancel:    cancel,
		listeners: make(map[net.Listener]struct{}),
		sessions:  make(map[int64]*session),
		bulk:      newBulkReads(),
	}
	server.front.server = server
	server.front.gate = newGate(server.cfg.patience, cluster.Working, ctx.Done())
	server.alone = newGate(server.cfg.patience, cluster.Working, ctx.Done())
	return server
}

// Stats returns the server's counters, which go on counting.
func (s *Server) Stats() *Stats { return &s.stats }

// Serve accepts connections until Shutdown, when it returns ErrServerClosed, or
// until the listener fails, or clients cannot be served any more. It closes the listener. Several listeners may be
// served at a time.
func (s *Server) Serve(listener net.Listener) error {
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
			s.accept(conn)
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

// accept starts the session of a new connection.
func (s *Server) accept(conn net.Conn) {
	sess, err := s.admit(conn)
	if err == nil {
		s.stats.Accepted.Add(1)
		if !s.front.adopt(sess) {
			s.running.Go(sess.serve)
		}
		return
	}
	if errors.Is(err, errMaxClients) {
		s.stats.Rejected.Add(1)
		// The socket's buffer is empty: this does not block.
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write(route.AppendReply(nil, err))
	}
	conn.Close()
}

// admit registers a session, unless there are too many or the server closes.
func (s *Server) admit(conn net.Conn) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return nil, ErrServerClosed
	}
	if len(s.sessions) >= s.cfg.MaxClients {
		return nil, errMaxClients
	}
	sess := newSession(s, conn, s.nextID.Add(1))
	s.sessions[sess.id] = sess
	s.stats.Clients.Add(1)
	s.running.Add(1)
	return sess, nil
}

// leave is the end of a session.
func (s *Server) leave(sess *session) {
	sess.holds.end(s)
	s.mu.Lock()
	delete(s.sessions, sess.id)
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

// Shutdown stops accepting, lets each session finish and answer the batch that it
// is working on, closes the connections, and returns when every goroutine of the
// server has ended. When ctx ends first, connections are closed as they are and
// ctx's error is returned, still after the last goroutine: that takes one
// operation time-out at most.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing.Store(true)
	for listener := range s.listeners {
		listener.Close()
	}
	for _, sess := range s.sessions {
		sess.wake()
	}
	s.mu.Unlock()

	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
		s.cancel()
		s.closeAll()
		<-done
	}
	s.front.close()
	s.cancel()
	return err
}

// fail makes Serve return an error: whoever serves is to know.
func (s *Server) fail(err error) {
	if !s.failure.CompareAndSwap(nil, &err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for listener := range s.listeners {
		listener.Close()
	}
}

func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		sess.hangUp()
	}
}
