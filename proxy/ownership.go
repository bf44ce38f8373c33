package proxy

import "time"

// Who owns a session. Its socket may get ready, or the session be ended by others, while
// it is owned: then the owner sees to it when it is done.
const (
	owned     int32 = iota // by a round or a goroutine
	unowned                // it waits for its client; whoever claims it owns it
	ownedNews              // owned, and something has come since
)

// claim makes the caller the owner of a session that has none. Otherwise it leaves word that
// something has come.
func (s *session) claim() bool {
	for {
		if s.owned.CompareAndSwap(unowned, owned) {
			return true
		}
		if s.owned.CompareAndSwap(owned, ownedNews) || s.owned.Load() == ownedNews {
			return false
		}
	}
}

// release ends the ownership, for the session to wait for its client. It reports false,
// and does not, while there is something to be done before.
func (s *session) release() bool {
	if s.reader.Buffered() {
		return false
	}
	socket := s.conn.socket
	if s.conn.idleTimeout > 0 {
		s.info.active.Store(time.Now().UnixMilli())
	}
	// From the moment at which it is unowned the session may be somebody else's.
	if !socket.drained || !s.owned.CompareAndSwap(owned, unowned) {
		s.owned.Store(unowned)
		// An error says that it was closed meanwhile, which wake does not miss.
		_ = socket.raw.Control(socket.remind)
	}
	if s.killed.Load() || s.server.closing.Load() {
		s.wake()
	}
	return true
}

// wake makes a session see that it is to end, once closing or killed is set. Any goroutine may call
// it.
func (s *session) wake() {
	s.conn.wake()
	if s.owned.CompareAndSwap(unowned, owned) {
		s.server.running.Go(s.serve)
	}
}

// hangUp ends a session in the middle of whatever it does. Any goroutine may call it.
func (s *session) hangUp() {
	s.killed.Store(true)
	s.conn.Close()
	s.wake()
}

// expire ends a session that has waited for its client for longer than limit.
func (s *session) expire(limit time.Duration) {
	silent := func() bool { return time.Now().UnixMilli()-s.info.active.Load() > limit.Milliseconds() }
	if !silent() || !s.owned.CompareAndSwap(unowned, owned) {
		return
	}
	if silent() {
		s.broken = true
		s.end()
		return
	}
	s.alone()
}

// alone goes on with the session in a goroutine of its own.
func (s *session) alone() { s.server.running.Go(s.serve) }
