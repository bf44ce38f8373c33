package front

import "github.com/quolldb/quoll/internal/buffer"

// flushSize is how many bytes of replies are collected before they are sent, even
// in the middle of a batch, so that an idle client's buffer is small.
const flushSize = 64 << 10

// Write puts a reply, or part of one, behind those that wait to be flushed. So
// that few wait, it flushes when they get many; a large reply is not copied.
func (c *Conn) Write(reply []byte) {
	if c.broken {
		return
	}
	if len(c.out)+len(reply) > flushSize && !c.stream.congested {
		c.flush()
	}
	if len(reply) >= flushSize && len(c.out) == 0 {
		reply = reply[c.send(reply):]
	}
	c.out = buffer.Append(buffer.Reserve(c.out, len(reply)), reply)
	if cap(c.out) > 2*flushSize {
		c.memory.replies(c, cap(c.out))
	}
}

// flush sends what waits. A client that does not take it in time is lost.
func (c *Conn) flush() {
	if c.flushed() || c.broken {
		return
	}
	if n := c.send(c.out); n < len(c.out) {
		c.out = c.out[:buffer.Copy(c.out, c.out[n:])]
		return
	}
	if c.out = c.out[:0]; cap(c.out) > 2*flushSize {
		buffer.Put(c.out)
		c.out = nil
		c.memory.replies(c, 0)
	}
}

// flushed reports whether nothing waits to be sent.
func (c *Conn) flushed() bool { return len(c.out) == 0 && !c.stream.unsent() }

// send sends bytes, and returns how many need not wait any more: all of them, unless the
// connection is nonblocking.
func (c *Conn) send(p []byte) int {
	n, err := c.stream.send(p)
	c.server.stats.BytesOut.Add(uint64(n))
	if err != nil {
		c.broken = true
		return len(p)
	}
	return n
}
