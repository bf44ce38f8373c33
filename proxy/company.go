package proxy

import "syscall"

// inCompany returns the error reply of a command. If it came with others, as part of a pipeline, its word is none on which a library
// would repeat them all: INCRs would be counted twice.
func (s *session) inCompany(reply []byte) []byte {
	if !isRetried(reply) || s.cameAlone() {
		return reply
	}
	return append([]byte("-"+notDone+" "), reply[1:]...)
}

// cameAlone reports whether the command that is being answered is the only one that the client has sent. The rest of a pipeline may still be
// in the network; but a refusal takes a while, mostly.
func (s *session) cameAlone() bool {
	if s.input.Len() > 1 || s.reader.Pending() > 0 {
		return false
	}
	with, ok := s.conn.Conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := with.SyscallConn()
	if err != nil {
		return true
	}
	waits := false
	_ = raw.Control(func(fd uintptr) { waits = inputWaits(fd) })
	return !waits
}
