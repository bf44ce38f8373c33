package verify

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// servers is a store that is asked in Redis' protocol. A command is sent once, on a connection that waits for nothing
// else: what libraries do for their users (repeat, reconnect, gather) would hide what is to be seen.
type servers struct {
	password string
	database int
	each     []*server
}

// server is one address, with the connections that nobody uses at the moment.
type server struct {
	address string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	mu      sync.Mutex
	idle    []*connection
	closed  bool
}

const (
	dialTimeout  = time.Second
	replyTimeout = 3 * time.Second
)

func newServers(opt Options) *servers {
	s := &servers{password: opt.Password, database: opt.Database}
	dial := opt.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	for _, address := range opt.Addresses {
		s.each = append(s.each, &server{address: address, dial: dial})
	}
	return s
}

func (s *servers) addresses() int { return len(s.each) }

// close closes what is idle; nothing is under way.
func (s *servers) close() {
	for _, at := range s.each {
		at.forget(true)
	}
}

func (s *servers) do(ctx context.Context, address int, args ...any) (answer, error) {
	at := s.each[address]
	c, err := at.take(ctx, s.greet)
	if err != nil {
		return answer{null: true}, err
	}
	reply, err := c.ask(until(ctx), args...)
	if err == nil {
		at.give(c)
		return reply, nil
	}
	broken, err := outcome(err, true)
	if broken {
		at.discard(c)
	} else {
		at.give(c)
	}
	return answer{null: true}, err
}

// until is when an answer has to be there.
func until(ctx context.Context) time.Time {
	end := time.Now().Add(replyTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		return d
	}
	return end
}

// greet makes a new connection ready: it is the client's, and in the database.
func (s *servers) greet(c *connection, until time.Time) error {
	if s.password != "" {
		if _, err := c.ask(until, "AUTH", s.password); err != nil {
			return fmt.Errorf("giving the password: %w", err)
		}
	}
	if s.database > 0 {
		if _, err := c.ask(until, "SELECT", s.database); err != nil {
			return fmt.Errorf("choosing database %d: %w", s.database, err)
		}
	}
	return nil
}

// take returns a connection that waits for nothing, a new one if there is none. An error says
// why there is none: nothing was sent then.
func (at *server) take(ctx context.Context, greet func(*connection, time.Time) error) (*connection, error) {
	at.mu.Lock()
	if last := len(at.idle) - 1; last >= 0 {
		c := at.idle[last]
		at.idle = at.idle[:last]
		at.mu.Unlock()
		return c, nil
	}
	at.mu.Unlock()
	conn, err := at.connect(ctx)
	if err != nil {
		return nil, err
	}
	c := newConnection(conn)
	if err := greet(c, until(ctx)); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (at *server) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return at.dial(ctx, "tcp", at.address)
}

func (at *server) give(c *connection) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.closed {
		c.close()
		return
	}
	at.idle = append(at.idle, c)
}

// discard closes a connection that is of no use, and what is idle: a server that ended has closed the others too, and to write to them would be one more command
// whose outcome nobody knows.
func (at *server) discard(c *connection) {
	c.close()
	at.forget(false)
}

// forget closes what is idle, and, if that is the end, whatever is given back later.
func (at *server) forget(end bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	for _, c := range at.idle {
		c.close()
	}
	at.idle, at.closed = nil, at.closed || end
}
