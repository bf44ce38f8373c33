package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Handler is the user of a Server. For one connection Open, Frame, Idle and Closed
// are called by one goroutine in this order; different connections call at the same
// time. A panic in a method costs the connection it was called for, nothing else.
type Handler interface {
	// Open is called after the handshake. Frames can be sent already.
	Open(c *ServerConn, peer Hello)
	// Frame is called for each frame; body is borrowed for the call. For age see
	// the package comment.
	Frame(c *ServerConn, typ FrameType, body []byte, age time.Duration)
	// Idle is called after frames when no further one is there: the time to send
	// what the frames caused.
	Idle(c *ServerConn)
	// Closed is called when the connection that was opened has ended, for whatever
	// reason: io.EOF is wrapped when the peer closed it in order, ErrClosed when
	// this side did.
	Closed(c *ServerConn, err error)
}

// ServerConfig configures a Server. Zero numbers get defaults.
type ServerConfig struct {
	Options
	// Handler gets what the peers send.
	Handler Handler
	// Accept judges what a peer says of itself, after its proof of the secret, and
	// returns what this side says. Its error is sent to the peer.
	Accept func(peer Hello) (Hello, error)
	// MaxConns is how many connections there may be, handshakes included: 1024.
	MaxConns int
	// IdleTimeout is how long a peer may be silent before its connection is closed:
	// 15 s. Links ping all the time.
	IdleTimeout time.Duration

	// Working, if there is one, reports whether what peers have asked for takes long and goes on: they
	// are told so. That frames of a connection are not read in time the server sees itself.
	Working func() bool
	// Stuck, if there is one, reports whether nothing goes on any more, though this process runs: peers
	// get no answers to their pings then, and take it for hung. Any goroutine may call both, often.
	Stuck func() bool
}

func (c ServerConfig) withDefaults() ServerConfig {
	c.Options = c.Options.withDefaults()
	c.MaxConns = cmp.Or(c.MaxConns, 1024)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 15*time.Second)
	return c
}

// Server is the accepting side of the transport.
type Server struct {
	cfg  ServerConfig
	done sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	conns    map[*ServerConn]struct{}
	// stopped is closed when the server is.
	stopped chan struct{}
	closing bool
	// leaving: connections are told to go; gone is signalled when one has.
	leaving bool
	gone    chan struct{}
	// warned is the reason that was warned of last.
	warned string

	behind atomic.Bool
	awake  atomic.Int64 // clock when this process began to run, or went on after it was stopped
}

// NewServer returns a server that does nothing yet.
func NewServer(cfg ServerConfig) *Server {
	return &Server{
		cfg:     cfg.withDefaults(),
		conns:   make(map[*ServerConn]struct{}),
		stopped: make(chan struct{}),
		gone:    make(chan struct{}, 1),
	}
}

// Serve accepts connections from listener, which it closes, until the server is
// closed (the error is then ErrClosed) or the listener fails. It is called once.
func (s *Server) Serve(listener net.Listener) error {
	if !s.begin(listener) {
		listener.Close()
		return ErrClosed
	}
	defer s.done.Done()
	defer listener.Close()
	s.done.Go(s.sweep)
	s.done.Go(s.reportProgress)
	var pause time.Duration
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			pause = 0
			s.admit(conn)
		case s.isEnding():
			return ErrClosed
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("wire: accepting connections: %w", err)
		default:
			// Too many open files, most likely: those who are connected go on.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.cfg.Logger.Warn("cannot accept peer connections, trying again", "error", err, "after", pause)
			s.sleep(pause)
		}
	}
}

// begin notes the listener, unless the server is closed.
func (s *Server) begin(listener net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.leaving {
		return false
	}
	s.listener = listener
	s.done.Add(1)
	return true
}

func (s *Server) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing || s.leaving
}

func (s *Server) sleep(d time.Duration) {
	select {
	case <-s.stopped:
	case <-time.After(d):
	}
}

// admit starts a connection if there is room for it.
func (s *Server) admit(conn net.Conn) {
	s.mu.Lock()
	full := len(s.conns) >= s.cfg.MaxConns
	if !full && !s.closing && !s.leaving {
		c := &ServerConn{peer: newPeer(conn, s.cfg.Options), server: s}
		s.conns[c] = struct{}{}
		s.done.Go(c.serve)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	if full {
		s.cfg.Logger.Warn("peer connection refused: too many", "limit", s.cfg.MaxConns, "remote", conn.RemoteAddr())
		reason := fmt.Appendf(nil, "%d connections are open, which is the limit", s.cfg.MaxConns)
		// A new socket takes these few bytes at once, or the peer does without.
		_ = conn.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		_, _ = conn.Write(appendFrame(nil, frameRefused, reason))
	}
	conn.Close()
}

func (s *Server) remove(c *ServerConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.signal()
}

// isNews reports whether a reason for refusing a peer is another one than the last.
// Peers try again all the time.
func (s *Server) isNews(reason error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.warned != reason.Error()
	s.warned = reason.Error()
	return news
}

// each calls do for the connections of the moment.
func (s *Server) each(do func(*ServerConn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		do(c)
	}
}

// sweep closes connections from which nothing came for a number of rounds. Rounds
// and not time: after this process was stopped, nobody is late.
func (s *Server) sweep() {
	const rounds = 5
	ticker := time.NewTicker(max(s.cfg.IdleTimeout/rounds, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-s.stopped:
			return
		case <-ticker.C:
		}
		s.each(func(c *ServerConn) {
			if heard := c.in.heard.Load(); heard != c.heard || c.turn.goesOn() { // nobody listens while frames are handled
				c.heard, c.quiet = heard, 0
			} else if c.quiet++; c.quiet >= rounds {
				c.fail(fmt.Errorf("%w: nothing came for %s", ErrSilent, s.cfg.IdleTimeout))
			}
		})
	}
}

// Shutdown closes the server in order: it accepts no more, reads no more, writes
// what is queued until ctx ends, closes the connections, and waits for all
// goroutines. Handlers must not call it.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	if !s.closing {
		s.closing = true
		close(s.stopped)
		if s.listener != nil {
			s.listener.Close()
		}
	}
	s.mu.Unlock()
	s.each((*ServerConn).drain)
	release := context.AfterFunc(ctx, func() {
		s.each(func(c *ServerConn) { c.fail(ErrClosed) })
	})
	defer release()
	s.done.Wait()
}

// Close closes the server at once, dropping what is queued, and waits for all
// goroutines. Handlers must not call it.
func (s *Server) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Shutdown(ctx)
}
