package front

// StopPoller makes waiting for clients fail from now on.
func (s *Server) StopPoller() { s.loop.poller.stop() }

// Claim makes the caller the owner of a connection, which nobody serves until its Release.
func (c *Conn) Claim() bool { return c.claim() }

// Release gives the connection up.
func (c *Conn) Release() bool { return c.release() }

// WithoutWriters has no writer come for what is pushed, until the connection is served for another reason.
func (c *Conn) WithoutWriters() {
	c.outbox.mu.Lock()
	defer c.outbox.mu.Unlock()
	c.outbox.called = true
}

// Called reports whether a writer is to look after the connection.
func (c *Conn) Called() bool {
	c.outbox.mu.Lock()
	defer c.outbox.mu.Unlock()
	return c.outbox.called
}
