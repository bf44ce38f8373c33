package front

import (
	"sync"
	"sync/atomic"
	"time"
)

// outbox holds what others than its own commands have for a client: see Conn.Push. Whoever owns the connection takes it from there, between
// replies. So one goroutine at a time writes to a client, and everything leaves in one order.
type outbox struct {
	// waiting: something was pushed and is not written. A pusher sets it before the connection is claimed, and who gives the connection up
	// looks at it afterwards: one of them sees the other.
	waiting atomic.Bool

	mu     sync.Mutex
	queue  pushQueue
	called bool // a writer has been told, and will look
	closed bool // nothing is sent any more
}

// Push hands the client a complete message that it has not asked for: a push of RESP3, or what RESP2 has for it. Any goroutine may call it: it neither
// waits nor writes. The message must not change any more; many clients may be given the same.
//
// Messages leave in the order in which they were pushed, never within a reply, nor between the replies of commands that are executed together. What is
// pushed before a batch of commands is executed leaves before their replies, what is pushed meanwhile leaves behind them.
//
// Push reports false if the client is gone. True does not say that it gets the message: it is disconnected when more waits for it than
// LimitOutput allows, or when it is the one for which most waits and all clients together have more than Config.ClientMemory.
func (c *Conn) Push(message []byte) bool {
	taken, bytes, full := c.outbox.push(c, message)
	if bytes > 0 {
		c.server.stats.OutputExceeded.Add(1)
		c.server.cfg.Logger.Warn("a client was disconnected: it does not take what is sent to it fast enough", "client", c.RemoteAddr(), "bytes", bytes)
		c.HangUp()
	}
	if full {
		c.server.evict()
	}
	return taken
}

// push reports whether the message waits now. If it is the one with which too much waits the outbox is closed, and bytes says how much that was. full is
// whether all clients together hold too much.
func (o *outbox) push(c *Conn, message []byte) (taken bool, bytes int64, full bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false, 0, false
	}
	if !o.queue.push(message, time.Now()) {
		bytes = o.queue.bytes
		o.shut(c)
		return false, bytes, false
	}
	o.waiting.Store(true)
	o.call(c)
	return true, 0, c.memory.set(c.server, &c.memory.pushed, o.queue.bytes)
}

// call has a writer look after the connection. As long as the outbox is open the connection is one of the server's, so that the server waits for what
// is begun for it.
func (o *outbox) call(c *Conn) {
	if !o.called && !o.closed {
		o.called = true
		c.server.writers.call(c)
	}
}

// recall is call for who has no lock.
func (o *outbox) recall(c *Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.queue.len() > 0 {
		o.call(c)
	}
}

// answered says that the writer is there, and has to be called for what is pushed from now on.
func (o *outbox) answered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.called = false
}

// len is how many messages wait, and how many bytes they take.
func (o *outbox) len() (messages int, bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queue.len(), o.queue.bytes
}

// first returns the oldest message, nil if there is none. It stays until it is dropped.
func (o *outbox) first() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queue.first()
}

// drop removes the oldest message, which has been written.
func (o *outbox) drop(c *Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue.drop()
	o.waiting.Store(o.queue.len() > 0)
	c.memory.set(c.server, &c.memory.pushed, o.queue.bytes)
}

// close drops all that waits, and takes no more.
func (o *outbox) close(c *Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut(c)
}

func (o *outbox) shut(c *Conn) {
	o.closed = true
	o.queue.reset()
	o.waiting.Store(false)
	c.memory.set(c.server, &c.memory.pushed, 0)
}

// LimitOutput says how much may wait for the client of what is pushed to it. The default is Config.OutputLimit. Any goroutine may call it.
func (c *Conn) LimitOutput(limit OutputLimit) {
	c.outbox.mu.Lock()
	defer c.outbox.mu.Unlock()
	c.outbox.queue.limit = limit
}

// Waiting is how many messages have been pushed to the client and not been written, and how many bytes of memory they take. Any goroutine may call it.
func (c *Conn) Waiting() (messages int, bytes int64) { return c.outbox.len() }

// deliver sends the replies that are written, and behind them what was pushed until now. The owner of the connection calls it where no reply has been
// begun. It reports false if the client does not take all of that at once, and the connection must not wait for it.
func (c *Conn) deliver() bool {
	if !c.outbox.waiting.Load() {
		return true
	}
	for n, _ := c.outbox.len(); n > 0 && !c.broken && !c.stream.congested; n-- {
		c.Write(c.outbox.first())
		c.outbox.drop(c)
	}
	c.flush()
	return c.flushed()
}

// finish sends the replies that are written, and behind them what was pushed meanwhile.
func (c *Conn) finish() {
	if !c.quit {
		c.deliver()
	}
	c.flush()
}
