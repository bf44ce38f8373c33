package proxy

import (
	"errors"
	"math"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

const (
	// roundOps is how many operations a round should have. More would be executed no faster
	// and make the first ones wait.
	roundOps = 256
	// partOps is how many operations of one client it should have at most: who has more gains
	// nothing by company, and would keep it waiting.
	partOps = 128
	// maxSwiftArgs and maxSwiftBytes are the most arguments, and the most bytes in them, of a
	// command that is executed together with those of others.
	maxSwiftArgs  = 32
	maxSwiftBytes = 16 << 10
)

// round is what the clients of some sessions have sent, executed as one batch with a
// part for each. It belongs to one worker, as the sessions do until they are answered.
type round struct {
	server  *Server
	batch   *route.Batch
	members []*session // by part; nil once it is answered
	begun   time.Time
	pass    pass // at the front's gate
}

func newRound(server *Server) *round {
	r := &round{server: server}
	r.reset()
	return r
}

// reset makes a new batch, for one that ended in a panic.
func (r *round) reset() {
	r.batch = &route.Batch{OnPart: r.answer}
	r.members = r.members[:0]
}

func (r *round) empty() bool { return len(r.members) == 0 }
func (r *round) full() bool  { return len(r.batch.Ops) >= roundOps }

// take reads what a client has sent and adds it to the round, if nothing about it is
// unusual.
func (r *round) take(s *session, now time.Time) {
	defer s.guard()
	s.conn.hasty, s.conn.fresh = true, true
	switch err := s.reader.ReadBatch(&s.input); {
	case errors.Is(err, errNotNow) && !s.conn.socket.drained: // a large command is coming
		s.next = s.input.Len()
		s.alone()
		return
	case err != nil:
		s.next = s.input.Len()
		s.received(err)
		s.settle()
		return
	case !s.begin(now):
		s.alone()
		return
	case len(s.plan.commands) == 0:
		s.flush()
		s.settle()
		return
	}
	r.batch.Ops = append(r.batch.Ops, s.plan.batch.Ops...)
	r.batch.EndPart()
	r.members = append(r.members, s)
}

// execute executes the round. Each session is answered, and left, when its part is done.
func (r *round) execute() {
	defer func() {
		if cause := recover(); cause != nil {
			r.crashed(cause)
		}
	}()
	r.begun = time.Now()
	r.server.bulk.served.Add(1)
	r.server.cluster.Execute(r.batch)
	r.server.stats.observe(len(r.batch.Ops), time.Since(r.begun))
	for part := range r.members {
		r.answer(part)
	}
	r.members = r.members[:0]
	r.batch.Reset()
}

// answer sends a client its replies, unless that was done.
func (r *round) answer(part int) {
	s := r.members[part]
	if s == nil {
		return
	}
	r.members[part] = nil
	ops := r.batch.Part(part)
	r.server.front.gate.end(&r.pass, len(ops))
	defer s.guard()
	copy(s.plan.batch.Ops, ops)
	s.executed(time.Since(r.begun))
	s.flush()
	s.settle()
}

// crashed ends the sessions that wait for a round which ran into a bug.
func (r *round) crashed(cause any) {
	r.server.front.gate.end(&r.pass, math.MaxInt)
	for _, s := range r.members {
		if s != nil {
			r.server.running.Go(func() { s.crashed(cause) })
		}
	}
	r.reset()
}

// begin plans input as far as that can be done in a round. It reports whether that is all
// of it.
func (s *session) begin(now time.Time) bool {
	s.info.active.Store(now.UnixMilli())
	s.next = 0
	if s.plan.maxOps < firstBatchOps { // its replies are large
		return false
	}
	for ; s.next < s.input.Len() && len(s.plan.batch.Ops) < min(s.plan.maxOps, partOps); s.next++ {
		args := s.input.Command(s.next)
		cmd := command.Lookup(args[0])
		if !s.swift(cmd, args) {
			break
		}
		s.dispatch(cmd, args)
	}
	return s.next == s.input.Len()
}

// swift reports whether a command can be executed together with those of others, or
// is answered in no time.
func (s *session) swift(cmd *command.Command, args [][]byte) bool {
	if cmd == nil || !s.authenticated || s.barred != 0 || len(args) > maxSwiftArgs || !cmd.ArityOK(len(args)) {
		return false
	}
	size := 0
	for _, arg := range args {
		size += len(arg)
	}
	if size > maxSwiftBytes {
		return false
	}
	switch cmd.Route {
	case command.RouteRead, command.RouteWrite, command.RouteSplit:
		return true
	}
	switch cmd.Op {
	case command.OpPing, command.OpEcho, command.OpSelect:
		return len(s.plan.commands) == 0 // what was before it is answered first
	}
	return false
}

// settle leaves a session that has been answered.
func (s *session) settle() {
	switch {
	case s.broken:
		s.end()
	case s.quit, len(s.out) > 0, !s.release():
		s.alone()
	}
}

// guard ends a session that ran into a bug in a round.
func (s *session) guard() {
	if cause := recover(); cause != nil {
		s.server.running.Go(func() { s.crashed(cause) })
	}
}
