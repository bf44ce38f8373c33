package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

// loading answers a command as Redis does while it loads its data, as long as the cluster is not there yet, and reports whether it
// did. A client that waits for PONG can use the cluster then.
func (s *Session) loading(cmd *command.Command, args [][]byte) bool {
	if sub := cmd.Called(args); sub != nil && sub.Flags&command.FlagLoading != 0 {
		return false
	}
	if err := s.notReady(); err != nil {
		s.refuse(cmd.Op, err)
		return true
	}
	s.service.loaded.Store(true)
	return false
}

// notReady is the reply as long as the cluster is not there yet, or its users were not known when the command was looked at: who the client is, and what it may do, nobody knows then.
func (s *Session) notReady() error {
	err := s.service.cluster.Loading()
	if err == nil && s.who.set.provisional {
		return route.ErrNotReady
	}
	return err
}
