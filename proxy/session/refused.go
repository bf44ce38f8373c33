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
	// refusedMulti: MULTI was refused. What would have been queued must not be executed one by one.
	refusedMulti refusals = 1 << iota
	// refusedSelect: SELECT was refused. What is meant for another database must not touch this one.
	refusedSelect
	// refusedCaching: CLIENT CACHING YES was refused. What the next command, or the next transaction, reads must not get into the client's cache.
	refusedCaching
)

var (
	errNoMulti = route.Refuse("ERR 'MULTI' is not supported yet by Quoll; nothing was done, and nothing will be until EXEC or DISCARD")
	errInMulti = route.Refuse("ERR nothing was done: MULTI was refused, so this command is part of no transaction. " +
		"Transactions are not supported yet by Quoll; EXEC or DISCARD ends this")
	errExecAbort   = route.Refuse("EXECABORT Transaction discarded because of previous errors: MULTI is not supported yet by Quoll, and nothing was done")
	errNestedMulti = route.Refuse("ERR MULTI calls can not be nested")
	errNoExec      = route.Refuse("ERR EXEC without MULTI")
	errNoDiscard   = route.Refuse("ERR DISCARD without MULTI")
	errInNoDB      = route.Refuse("ERR nothing was done: this connection asked for a database that there is not. SELECT 0 goes on with the only one")
)

// transactional answers the commands of transactions, which are all refused, and what is sent between them. It reports
// whether that was all.
func (s *Session) transactional(cmd *command.Command) bool {
	inside := s.refused&refusedMulti != 0
	var err error
	switch {
	case cmd == multiCommand && inside:
		err = errNestedMulti
	case cmd == multiCommand:
		s.refused |= refusedMulti
		err = errNoMulti
	case cmd == execCommand && inside:
		s.refused &^= refusedMulti | refusedCaching
		err = errExecAbort
	case cmd == execCommand:
		err = errNoExec
	case cmd == discardCommand && !inside:
		err = errNoDiscard
	case cmd == discardCommand:
		s.refused &^= refusedMulti | refusedCaching
		s.finish()
		s.reply(cmd.Op, []byte("+OK\r\n"))
		return true
	case !inside, cmd.Op == command.OpQuit, cmd.Op == command.OpReset:
		return false
	case s.refused&refusedCaching != 0:
		err = errToBeCached
	default:
		err = errInMulti
	}
	s.refuse(cmd.Op, err)
	return true
}

var (
	multiCommand   = command.Lookup([]byte("multi"))
	execCommand    = command.Lookup([]byte("exec"))
	discardCommand = command.Lookup([]byte("discard"))
)

// inNoDatabase reports whether a command needs the database that the client asked for in vain.
func (s *Session) inNoDatabase(cmd *command.Command) bool {
	return s.refused&refusedSelect != 0 && cmd.Route != command.RouteProxy && cmd.Route != command.RouteUnsupported
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
