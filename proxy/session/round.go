package session

import (
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

const (
	// maxRoundArgs and maxRoundBytes are the most arguments, and the most bytes in them, of a
	// command that is executed together with those of other clients.
	maxRoundArgs  = 32
	maxRoundBytes = 16 << 10
	// maxRoundQueue is the same for the commands of a transaction.
	maxRoundQueue = 32
)

// Plan implements front.Session.
func (s *Session) Plan(limit int) (ops []route.Op, all bool) {
	if s.plan.maxOps < firstBatchOps { // its replies are large
		return nil, false
	}
	s.planning = true
	for s.conn.More() && len(s.plan.batch.Ops) < min(s.plan.maxOps, limit) {
		args := s.conn.Peek()
		cmd := command.Lookup(args[0])
		if !s.fitsRound(cmd, args) {
			break
		}
		s.conn.Skip()
		s.shown = false
		s.dispatch(cmd, args)
	}
	s.planning = false
	return s.plan.batch.Ops, !s.conn.More()
}

// Executed implements front.Session.
func (s *Session) Executed(ops []route.Op, took time.Duration) {
	copy(s.plan.batch.Ops, ops)
	s.unheld.wrote(ops)
	s.executed(took)
}

// fitsRound reports whether a command can be executed together with those of others, or
// is answered in no time.
func (s *Session) fitsRound(cmd *command.Command, args [][]byte) bool {
	if cmd == nil || !s.who.authenticated || s.tracking.on || len(args) > maxRoundArgs || !cmd.ArityOK(len(args)) {
		return false
	}
	if now := s.service.look.pause.now.Load(); now != nil && now.holds(s, cmd, args) {
		return false
	}
	size := 0
	for _, arg := range args {
		size += len(arg)
	}
	if size > maxRoundBytes {
		return false
	}
	if publishes := cmd.Op.Publishes() && !s.multi.open; publishes != s.plan.publishing {
		return publishes && len(s.plan.batch.Ops) == 0
	} else if publishes {
		return true
	}
	switch t := &s.multi; {
	case cmd.Op == command.OpMulti, cmd.Op == command.OpDiscard:
		return true
	case cmd.Op == command.OpExec:
		return !t.pieces && !t.scripts && !s.service.look.monitors.any() && len(t.queue) <= maxRoundQueue && t.bytes <= maxRoundBytes
	case t.open:
		return cmd.Op != command.OpQuit && cmd.Op != command.OpReset && !s.wantsMemory(cmd) // it is queued, or refused
	}
	if isScript(cmd.Op) {
		return !s.service.look.monitors.any() && s.evalFits(cmd, args)
	}
	switch cmd.Route {
	case command.RouteRead, command.RouteWrite, command.RouteSplit, command.RouteSlot:
		return true
	}
	switch cmd.Op {
	case command.OpPing, command.OpEcho, command.OpSelect, command.OpUnsubscribe, command.OpPUnsubscribe, command.OpSUnsubscribe:
		return len(s.plan.commands) == 0 // what was before it is answered first
	}
	return false
}
