package verify

import (
	"fmt"
	"strconv"
	"sync"
)

// counter judges a key, or a field of a hash, that many clients increment and read. It is safe for concurrent use, and does nothing
// by itself.
type counter struct {
	place

	mu      sync.Mutex
	sent    int64 // increments that were sent and not refused
	acked   int64 // increments that were acknowledged
	seen    int64 // the highest value in any answer
	replies bits  // the answers to increments: no two are the same
	// evicts: it may be evicted, and begins anew then. So it is never more than was sent, and nothing else is known of it.
	evicts bool
}

// send notes that an increment is about to be sent.
func (c *counter) send() floor {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	return floor{acked: c.acked, seen: c.seen}
}

// refuse notes that an increment did nothing.
func (c *counter) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent--
}

// incremented judges the answer to an increment.
func (c *counter) incremented(at floor, reply answer) *Finding {
	value, err := strconv.ParseInt(reply.text, 10, 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked++
	switch {
	case err != nil || reply.null || value <= 0:
		return c.wrong("an increment was answered %s", reply)
	case value > c.sent:
		return c.wrong("an increment was answered %d, but only %d were sent", value, c.sent)
	case c.evicts:
		return nil
	case value <= at.newest():
		return c.wrong("an increment was answered %d after %d had been acknowledged and %d seen", value, at.acked, at.seen)
	case c.replies.set(value):
		return c.wrong("two increments were answered %d", value)
	}
	c.seen = max(c.seen, value)
	return nil
}

// floor is asked for when a read begins.
func (c *counter) floor() floor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return floor{acked: c.acked, seen: c.seen}
}

// read judges the answer to a read. Old means that it is below the floor: whether increments are gone, or
// the answer only stale, is known when all addresses have been asked.
func (c *counter) read(at floor, reply answer) (found *Finding, old bool) {
	value := int64(0)
	if !reply.null {
		var err error
		if value, err = strconv.ParseInt(reply.text, 10, 64); err != nil || value <= 0 {
			return c.wrong("the value %.60q was read, which is no count", reply.text), false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if value > c.sent {
		return c.wrong("%d was read, but only %d increments were sent", value, c.sent), false
	}
	c.seen = max(c.seen, value)
	return nil, value < at.newest() && !c.evicts
}

// older is the verdict on an old answer.
func (c *counter) older(at floor, reply answer, everywhere bool) *Finding {
	if everywhere {
		return c.wrong("%s was read through every address after %d increments had been acknowledged and %d seen", reply, at.acked, at.seen)
	}
	return &Finding{Stale, c.name(), fmt.Sprintf("%s was read after %d increments had been acknowledged and %d seen", reply, at.acked, at.seen)}
}

// bits is a set of small numbers: a bit for each.
type bits []uint64

// set adds a number and reports whether it was there.
func (b *bits) set(n int64) (was bool) {
	for int64(len(*b)) <= n/64 {
		*b = append(*b, 0)
	}
	was = (*b)[n/64]&(1<<(n%64)) != 0
	(*b)[n/64] |= 1 << (n % 64)
	return was
}
