package front

import (
	"container/list"
	"sync"
	"time"
)

// strangers are the connections whose clients have not said who they are, in the order in which they became so. What they take is bounded: each has
// Config.LoginTimeout, and all together half of the connections. Beyond it the one that has had most time goes, so that whoever
// opens connections and says nothing keeps nobody out who has a password.
type strangers struct {
	mu    sync.Mutex
	order list.List // of *Conn
}

// stranger is what a connection has while its client is one. strangers.mu guards it.
type stranger struct {
	place *list.Element // nil: he has said who he is
	timer *time.Timer
}

// Stranger says whether the client has yet to say who it is. A connection begins as one that has not. Its owner calls it.
func (c *Conn) Stranger(yes bool) {
	limit := c.server.settings.Load().LoginTimeout
	s := &c.server.strangers
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case yes && c.stranger.place == nil:
		c.stranger.place = s.order.PushBack(c)
		if limit > 0 {
			c.stranger.timer = time.AfterFunc(limit, func() { s.turnOut(c) })
		}
	case !yes:
		s.forget(c)
	}
}

// forget takes a connection from the strangers, if it is one, and reports whether it was. The caller holds the lock.
func (s *strangers) forget(c *Conn) bool {
	if c.stranger.place == nil {
		return false
	}
	s.order.Remove(c.stranger.place)
	if c.stranger.timer != nil {
		c.stranger.timer.Stop()
	}
	c.stranger = stranger{}
	return true
}

// leave is the end of a connection.
func (s *strangers) leave(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(c)
}

// turnOut ends a connection if its client has still not said who it is.
func (s *strangers) turnOut(c *Conn) {
	s.mu.Lock()
	found := s.forget(c)
	s.mu.Unlock()
	if found {
		c.server.stats.TurnedOut.Add(1)
		c.HangUp()
	}
}

// bound ends the connection of the one who has had most time if there are more than half of the most clients. It is called
// without any lock.
func (s *strangers) bound(most int) {
	s.mu.Lock()
	var c *Conn
	if s.order.Len() > max(1, most/2) {
		c, _ = s.order.Front().Value.(*Conn)
	}
	s.mu.Unlock()
	if c != nil {
		s.turnOut(c)
	}
}
