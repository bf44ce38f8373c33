package session

import (
	"sync/atomic"
	"time"
)

// crossProtocol reports whether a command is a line of an HTTP request. A web page can make a browser send one to this port,
// with commands in its body. Like Redis this closes the connection, whether the client is authenticated or not: every such
// request has a line "Host:" before its body. Its first line is noticed by the parser already (resp.ErrHTTP), which Redis executes if its method is a command.
// See https://redis.io/docs/latest/operate/oss_and_stack/management/security/.
func crossProtocol(name []byte) bool { return is(name, "POST") || is(name, "HOST:") }

// attacks counts attempts, and when one was logged last.
type attacks struct {
	count  atomic.Uint64
	logged atomic.Int64 // Unix nanoseconds
}

// attacked ends a session that speaks HTTP: nothing more of it is executed. That is said once a minute, as by Redis.
func (s *Session) attacked() {
	s.conn.Break()
	a := &s.service.attacks
	n, now, last := a.count.Add(1), time.Now().UnixNano(), a.logged.Load()
	if (last != 0 && now-last < int64(time.Minute)) || !a.logged.CompareAndSwap(last, now) {
		return
	}
	s.service.cfg.Logger.Warn("possible attack: somebody sends HTTP requests to the port for Redis clients, as a web page can make a browser do; the connection is closed",
		"client", s.conn.RemoteAddr(), "so_far", n)
}
