package wire

import "context"

// Leave says goodbye: the server accepts no more connections, tells its peers that it is about
// to end, and waits until each of them has sent its last frame, has closed its connection, or
// ctx ends. Everything still works on the connections, so what was asked can be answered; then
// Shutdown ends them. Handlers must not call it.
func (s *Server) Leave(ctx context.Context) {
	s.mu.Lock()
	if !s.leaving {
		s.leaving = true
		if s.listener != nil {
			s.listener.Close()
		}
		for c := range s.conns {
			c.tellLeaving()
		}
	}
	s.mu.Unlock()
	for !s.allLeft() {
		select {
		case <-s.gone:
		case <-s.stopped:
			return
		case <-ctx.Done():
			return
		}
	}
}

// allLeft reports whether no frame can come any more.
func (s *Server) allLeft() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if c.open && !c.left {
			return false
		}
	}
	return true
}

// opened notes that a connection is past its handshake.
func (s *Server) opened(c *ServerConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.open = true
	if s.leaving {
		c.tellLeaving()
	}
}

// left notes that a peer sends no more.
func (s *Server) left(c *ServerConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.left = true
	s.signal()
}

func (s *Server) signal() {
	select {
	case s.gone <- struct{}{}:
	default:
	}
}

// tellLeaving says goodbye to a peer that has been introduced. The server is locked.
func (c *ServerConn) tellLeaving() {
	if c.open {
		_ = c.out.add(appendFrame(nil, frameLeaving, nil)) // without room it learns it from the end
	}
}
