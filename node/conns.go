package node

import (
	"sync"

	"github.com/quolldb/quoll/internal/wire"
)

// conns are the connections from proxies, nodes and tools that are open.
type conns struct {
	mu  sync.Mutex
	all map[*wire.ServerConn]wire.Role
}

func (c *conns) add(conn *wire.ServerConn, role wire.Role) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[*wire.ServerConn]wire.Role{}
	}
	c.all[conn] = role
}

func (c *conns) remove(conn *wire.ServerConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, conn)
}

// count returns how many there are of a role.
func (c *conns) count(role wire.Role) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, its := range c.all {
		if its == role {
			n++
		}
	}
	return n
}

// closeAll closes them, without waiting.
func (c *conns) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.all {
		conn.Close()
	}
}

// tell sends finished frames to those of a role.
func (c *conns) tell(role wire.Role, frames []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn, its := range c.all {
		if its == role {
			_ = conn.SendFrames(frames) // a lost connection is Closed's business
		}
	}
}
