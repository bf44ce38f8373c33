package session

import (
	"errors"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

// bars are what keeps a connection from executing commands: something that it asked for was refused, and what follows rests
// on it. Clients send it all the same, in one pipeline or because they do not look at the reply.
type bars uint8

const (
	// barTransaction: MULTI was refused. What would have been queued must not be executed one by one.
	barTransaction bars = 1 << iota
	// barDatabase: SELECT was refused. What is meant for another database must not touch this one.
	barDatabase
	// barCaching: CLIENT CACHING YES was refused. What the next command, or the next transaction, reads must not get into the client's cache.
	barCaching
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
	inside := s.barred&barTransaction != 0
	var err error
	switch {
	case cmd == multiCommand && inside:
		err = errNestedMulti
	case cmd == multiCommand:
		s.barred |= barTransaction
		err = errNoMulti
	case cmd == execCommand && inside:
		s.barred &^= barTransaction | barCaching
		err = errExecAbort
	case cmd == execCommand:
		err = errNoExec
	case cmd == discardCommand && !inside:
		err = errNoDiscard
	case cmd == discardCommand:
		s.barred &^= barTransaction | barCaching
		s.finish()
		s.reply(cmd.Op, []byte("+OK\r\n"))
		return true
	case !inside, cmd.Op == command.OpQuit, cmd.Op == command.OpReset:
		return false
	case s.barred&barCaching != 0:
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
	return s.barred&barDatabase != 0 && cmd.Route != command.RouteProxy && cmd.Route != command.RouteUnsupported
}

// selected notes what became of a SELECT.
func (s *Session) selected(err error) {
	switch {
	case err == nil:
		s.barred &^= barDatabase
	case errors.Is(err, errDBIndex):
		s.barred |= barDatabase
	}
}
