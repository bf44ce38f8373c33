package session

import (
	"github.com/quolldb/quoll/internal/command"
)

// loading answers a command as Redis does while it loads its data, as long as the cluster is not there yet, and reports whether it
// did. A client that waits for PONG can use the cluster then.
func (s *Session) loading(cmd *command.Command, args [][]byte) bool {
	if sub := cmd.Called(args); sub != nil && sub.Flags&command.FlagLoading != 0 {
		return false
	}
	if err := s.service.cluster.Loading(); err != nil {
		s.refuse(cmd.Op, err)
		return true
	}
	s.service.loaded.Store(true)
	return false
}
