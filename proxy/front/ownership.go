package front

import "time"

// Who owns a connection. Its socket may get ready, or the connection be ended by others, while
// it is owned: then the owner sees to it when it is done.
const (
	owned     int32 = iota // by a round or a goroutine
	unowned                // it waits for its client; whoever claims it owns it
	ownedNews              // owned, and something has come since
)

// claim makes the caller the owner of a connection that has none. Otherwise it leaves word that
// something has come.
func (c *Conn) claim() bool {
	for {
		if c.owned.CompareAndSwap(unowned, owned) {
			return true
		}
		if c.owned.CompareAndSwap(owned, ownedNews) || c.owned.Load() == ownedNews {
			return false
		}
	}
}

// release ends the ownership, for the connection to wait for its client. It reports false,
// and does not, while there is something to be done before.
func (c *Conn) release() bool {
	if c.reader.Buffered() || c.stream.pending() {
		return false
	}
	socket := c.stream.socket
	if c.server.settings.Load().IdleTimeout > 0 {
		c.active.Store(time.Now().UnixMilli())
	}
	// From the moment at which it is unowned the connection may be somebody else's.
	if !socket.drained || !c.owned.CompareAndSwap(owned, unowned) {
		c.owned.Store(unowned)
		// An error says that it was closed meanwhile, which wake does not miss.
		_ = socket.raw.Control(socket.remind)
	}
	if c.killed.Load() || c.server.closing.Load() {
		c.wake()
	}
	if c.outbox.waiting.Load() {
		c.outbox.recall(c)
	}
	return true
}

// wake makes a connection see that it is to end, once closing or killed is set. Any goroutine may call
// it.
func (c *Conn) wake() {
	c.stream.wake()
	c.rouse()
}

// HangUp ends a connection in the middle of whatever it does.
func (c *Conn) HangUp() {
	c.killed.Store(true)
	c.stream.Close()
	c.wake()
}

// HungUp reports whether HangUp was called: the connection is over, though what it does may not be. Any goroutine may ask.
func (c *Conn) HungUp() bool { return c.killed.Load() }

// expire ends a connection that has waited for its client for longer than limit.
func (c *Conn) expire(limit time.Duration) {
	silent := func() bool { return time.Now().UnixMilli()-c.active.Load() > limit.Milliseconds() }
	if c.patient.Load() || !silent() || !c.owned.CompareAndSwap(unowned, owned) {
		return
	}
	if c.parked { // it does not wait for its client
		c.active.Store(time.Now().UnixMilli())
		c.settle()
		return
	}
	if silent() {
		c.broken = true
		c.end()
		return
	}
	c.detach()
}

// detach goes on with the connection in a goroutine of its own.
func (c *Conn) detach() { c.server.running.Go(c.serve) }
