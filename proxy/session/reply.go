package session

import "github.com/quolldb/quoll/internal/command"

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
func (s *Session) reply(op command.Op, reply []byte) {
	if len(reply) > 0 && reply[0] == '-' {
		reply = s.unretried(reply)
		s.service.stats.countError(op, reply)
	}
	if confirms(op, reply) {
		s.conn.Write(reply)
		s.replied()
		return
	}
	s.write(reply)
}

// write writes the reply of a command, for which all is counted.
func (s *Session) write(reply []byte) {
	if s.replies == replyOn {
		s.conn.Write(reply)
	}
	s.replied()
}

// replied is called once for each command when it has been answered.
func (s *Session) replied() {
	switch s.replies {
	case replySkipNext:
		s.replies = replySkip
	case replySkip:
		s.replies = replyOn
	}
}
