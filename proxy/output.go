package proxy

import (
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
)

// replyMode is what CLIENT REPLY set.
type replyMode uint8

const (
	replyOn replyMode = iota
	replyOff
	// replySkipNext is SKIP while SKIP itself is executed, which is not answered
	// either; replySkip while the command behind it is.
	replySkipNext
	replySkip
)

// reply writes the complete reply of a command, unless the client does not want
// it. An empty one is none.
func (s *session) reply(op command.Op, reply []byte) {
	if len(reply) > 0 && reply[0] == '-' {
		reply = s.inCompany(reply)
		s.server.stats.countError(op, reply)
	}
	if s.replies == replyOn {
		s.write(reply)
	}
	s.replied()
}

// replied is called once for each command when it has been answered.
func (s *session) replied() {
	switch s.replies {
	case replySkipNext:
		s.replies = replySkip
	case replySkip:
		s.replies = replyOn
	}
}

// flushSize is how many bytes of replies are collected before they are sent, even
// in the middle of a batch, so that an idle client's buffer is small.
const flushSize = 64 << 10

// write puts a reply, or part of one, behind those that wait to be flushed. So
// that few wait, it flushes when they get many; a large reply is not copied.
func (s *session) write(reply []byte) {
	if s.broken {
		return
	}
	if len(s.out)+len(reply) > flushSize && !s.conn.stuck {
		s.flush()
	}
	if len(reply) >= flushSize && len(s.out) == 0 {
		reply = reply[s.send(reply):]
	}
	s.out = buffer.Append(buffer.Reserve(s.out, len(reply)), reply)
	if cap(s.out) > 2*flushSize {
		s.holds.replies(s, cap(s.out))
	}
}

// flush sends what waits. A client that does not take it in time is lost.
func (s *session) flush() {
	if len(s.out) == 0 || s.broken {
		return
	}
	if n := s.send(s.out); n < len(s.out) {
		s.out = s.out[:buffer.Copy(s.out, s.out[n:])]
		return
	}
	if s.out = s.out[:0]; cap(s.out) > 2*flushSize {
		buffer.Put(s.out)
		s.out = nil
		s.holds.replies(s, 0)
	}
}

// send sends bytes, and returns how many need not wait any more: all of them, unless the
// connection is hasty.
func (s *session) send(p []byte) int {
	n, err := s.conn.send(p)
	s.server.stats.BytesOut.Add(uint64(n))
	if err != nil {
		s.broken = true
		return len(p)
	}
	return n
}
