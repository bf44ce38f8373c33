package session

import (
	"errors"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

// refusals are what keeps a connection from executing commands: something that it asked for was refused, and what follows rests
// on it. Clients send it all the same, in one pipeline or because they do not look at the reply.
type refusals uint8

const (
	// refusedSelect: SELECT was refused. What is meant for another database must not touch this one.
	refusedSelect refusals = 1 << iota
	// refusedCaching: CLIENT CACHING YES was refused. What the next command, or the next transaction, reads must not get into the client's cache.
	refusedCaching
)

var errInNoDB = route.Refuse("ERR nothing was done: this connection asked for a database that there is not. SELECT 0 goes on with the only one")

// inNoDatabase reports whether a command needs the database that the client asked for in vain.
func (s *Session) inNoDatabase(cmd *command.Command, args [][]byte) bool {
	if s.refused&refusedSelect == 0 || cmd.Route == command.RouteUnsupported {
		return false
	}
	if cmd.Route != command.RouteProxy {
		return true
	}
	sub := called(cmd, args)
	return sub != nil && len(sub.KeySpecs) > 0 && sub.ArityOK(len(args))
}

// selected notes what became of a SELECT.
func (s *Session) selected(err error) {
	switch {
	case err == nil:
		s.refused &^= refusedSelect
	case errors.Is(err, errDBIndex):
		s.refused |= refusedSelect
	}
}
