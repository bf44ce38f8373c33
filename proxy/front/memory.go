package front

import (
	"runtime"
	"sync"
)

// memory is what one client makes the server hold for as long as it likes: a command of which it has sent a part, commands that it has queued, and replies
// and pushes that it does not take. Buffers of ordinary size are not counted.
//
// All clients together are bounded by Config.ClientMemory. Who goes beyond it does not wait, since it might be for ever: the
// client that holds the most is disconnected, as by Redis' maxmemory-clients.
// See https://redis.io/docs/latest/develop/reference/clients/#client-eviction.
type memory struct {
	mu                    sync.Mutex
	in, kept, out, pushed int64
	ended                 bool // what it holds does not count any more
}

// ordinary is the size up to which buffers are not counted.
const ordinary = 64 << 10

// input notes the length of the connection's buffer for commands, replies the capacity of that for replies.
func (m *memory) input(c *Conn, bytes int)   { m.change(c.server, &m.in, bytes) }
func (m *memory) replies(c *Conn, bytes int) { m.change(c.server, &m.out, bytes) }

func (m *memory) change(server *Server, part *int64, bytes int) {
	if m.set(server, part, int64(bytes)) {
		server.evict()
	}
}

// set notes one of the parts, and reports whether clients have to be disconnected for it: evict does that.
func (m *memory) set(server *Server, part *int64, now int64) (full bool) {
	if now <= ordinary {
		now = 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	change := now - *part
	if *part = now; m.ended || change == 0 {
		return false
	}
	return server.held.Add(change) > server.settings.Load().ClientMemory && change > 0
}

// sum is what the client makes the server hold.
func (m *memory) sum() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return 0
	}
	return m.in + m.kept + m.out + m.pushed
}

// end gives back what was held, and returns how much that was. Only the first call does something.
func (m *memory) end(server *Server) (bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return 0
	}
	m.ended = true
	bytes = m.in + m.kept + m.out + m.pushed
	server.held.Add(-bytes)
	server.abandon(bytes)
	return bytes
}

// Held is how many bytes all clients together make the server hold, without buffers of ordinary size.
func (s *Server) Held() int64 { return s.held.Load() }

// abandon counts what clients held when they ended, and has it collected when it is much: others may need the memory before the
// collector comes by itself.
func (s *Server) abandon(bytes int64) {
	if bytes == 0 || s.abandoned.Add(bytes) < s.settings.Load().ClientMemory/8 {
		return
	}
	if s.collecting.CompareAndSwap(false, true) {
		s.abandoned.Store(0)
		s.running.Go(func() {
			defer s.collecting.Store(false)
			runtime.GC()
		})
	}
}

// evict disconnects clients until the others hold no more than they may.
func (s *Server) evict() {
	for s.held.Load() > s.settings.Load().ClientMemory {
		most := s.largest()
		if most == nil {
			return
		}
		bytes := most.memory.end(s)
		s.stats.Evicted.Add(1)
		s.cfg.Logger.Warn("a client was disconnected: all clients together hold more than --client-memory, and this one the most",
			"client", most.RemoteAddr(), "bytes", bytes, "limit", s.settings.Load().ClientMemory)
		most.HangUp()
	}
}

// largest returns the connection that holds the most, nil if none holds anything.
func (s *Server) largest() (most *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes := int64(0)
	for _, c := range s.conns {
		if n := c.memory.sum(); n > bytes {
			most, bytes = c, n
		}
	}
	return most
}
