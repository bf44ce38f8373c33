package front

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrServerClosed is returned by Serve once Shutdown was called.
var ErrServerClosed = errors.New("proxy: server closed")

// Server serves clients, each with a Session. Its methods may be called from any goroutine.
type Server struct {
	cfg      Config                 // as it was started
	settings atomic.Pointer[Config] // as it is: see Change
	changing sync.Mutex
	cluster  Executor
	open     func(*Conn) Session
	stats    Stats

	// ctx ends when a Shutdown runs out of patience.
	ctx    context.Context
	cancel context.CancelFunc

	closing atomic.Bool
	failure atomic.Pointer[error] // why nothing more can be served
	nextID  atomic.Int64
	running sync.WaitGroup // accept loops and connections

	bulk       *bulkReads
	held       atomic.Int64 // by all connections: see memory
	abandoned  atomic.Int64 // by connections that ended, since it was collected last
	collecting atomic.Bool

	loop       loop
	handshakes handshakes
	writers    writers
	strangers  strangers
	gate       *gate // of connections in goroutines: many small commands of the loop do not wait behind few long pipelines

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[int64]*Conn
}

// New returns a server that is not listening yet. It calls open for the session of each connection, whose Conn can be used by
// then, and gives cluster what sessions plan.
func New(cfg Config, cluster Executor, open func(*Conn) Session) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	server := &Server{
		cfg:        cfg.withDefaults(),
		cluster:    cluster,
		open:       open,
		ctx:        ctx,
		cancel:     cancel,
		listeners:  make(map[net.Listener]struct{}),
		conns:      make(map[int64]*Conn),
		bulk:       newBulkReads(),
		handshakes: newHandshakes(),
	}
	started := server.cfg
	server.settings.Store(&started)
	server.loop.server = server
	server.writers.server = server
	server.loop.gate = newGate(server.cfg.patience, cluster.Working, ctx.Done())
	server.gate = newGate(server.cfg.patience, cluster.Working, ctx.Done())
	return server
}

// Config returns how the server treats its clients at the moment, with the defaults.
func (s *Server) Config() Config { return *s.settings.Load() }

// Started returns how the server treated its clients when it was made, with the defaults.
func (s *Server) Started() Config { return s.cfg }

// Change changes how the server treats its clients from now on: MaxClients, ClientMemory, OutputLimit and IdleTimeout. OutputLimit is that of
// connections to come.
func (s *Server) Change(change func(*Config)) {
	s.changing.Lock()
	defer s.changing.Unlock()
	now := s.Config()
	change(&now)
	s.settings.Store(&now)
	if now.IdleTimeout > 0 {
		s.loop.watchIdle()
	}
	s.evict()
}

// Context ends when nothing that a client waits for is to go on.
func (s *Server) Context() context.Context { return s.ctx }

// Stats returns the server's counters, which go on counting.
func (s *Server) Stats() *Stats { return &s.stats }

// Conn returns an open connection, nil if there is none of this number.
func (s *Server) Conn(id int64) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[id]
}

// Conns returns the open connections, oldest first.
func (s *Server) Conns() []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Conn, 0, len(s.conns))
	for _, c := range s.conns {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *Conn) int { return cmp.Compare(a.id, b.id) })
	return list
}
