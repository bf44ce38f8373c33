package front

// A client may wait for something else than its own next command (BLPOP). Its connection is parked then: nothing is read, what it has sent stays where it is, and nobody owns it. It goes on when
// somebody calls Resume, or when it is found to have ended. What is pushed to it is sent meanwhile.

// Park says that the client waits: once Run has returned nothing happens until Resume, and then Run is called again. The session calls it in Run, each time.
func (c *Conn) Park() { c.parked = true }

// Resume has Run be called, if the connection is parked or about to be. Any goroutine may call it, at any time: it does not wait. For no reason is fine.
func (c *Conn) Resume() {
	c.resumed.Store(true)
	c.rouse()
}

// rouse has somebody look after the connection, if nobody does.
func (c *Conn) rouse() {
	if c.dedicated.Load() {
		select {
		case c.bell <- struct{}{}:
		default: // it has rung, and was not heard yet
		}
		return
	}
	if c.owned.CompareAndSwap(unowned, owned) {
		c.detach()
	}
}

// run has the session execute what is left, or go on with what it was parked for.
func (c *Conn) run() {
	c.parked = false
	c.resumed.Store(false)
	c.session.Run()
}

// rest gives up a connection that is parked. It reports false, and does not, if there is something to do: Run, or its end.
func (c *Conn) rest() bool {
	if c.dedicated.Load() {
		<-c.writing // others may write meanwhile
		<-c.bell
		c.writing <- struct{}{}
		c.broken = c.broken || c.ended()
		return false
	}
	if !c.More() {
		c.reader.Rest(&c.input)
	}
	for {
		switch {
		case c.ended() || c.stream.socket.gone():
			c.broken = true
			return false
		case c.resumed.Load():
			return false
		}
		// From the moment at which it is unowned it may be somebody else's.
		if c.owned.CompareAndSwap(owned, unowned) {
			break
		}
		c.owned.Store(owned) // something has come: its end, perhaps
	}
	if c.resumed.Load() || c.ended() {
		c.rouse()
	}
	if c.outbox.waiting.Load() {
		c.outbox.recall(c)
	}
	return true
}

// Gone reports whether nobody is there any more who could be answered, as far as that is known.
func (c *Conn) Gone() bool {
	return c.broken || c.ended() || c.stream.socket != nil && c.stream.socket.gone()
}

// ended reports whether somebody wants the connection to end.
func (c *Conn) ended() bool { return c.killed.Load() || c.server.closing.Load() }
