package proxy

import (
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// session serves one connection. At any moment it belongs to one goroutine, or to none
// while it waits for its client (see front). Other goroutines touch only info, owned and
// the methods of conn that say so.
type session struct {
	server *Server
	id     int64
	conn   clientConn
	owned  atomic.Int32 // see ownership.go
	killed atomic.Bool
	reader *resp.Reader
	input  resp.Batch // what the last read delivered
	next   int        // the first command of input that is not dispatched
	info   clientInfo

	authenticated bool
	resp3         bool
	barred        bars
	replies       replyMode
	// quit ends the session once its replies are flushed; broken ends it at once.
	quit, broken bool

	holds   holding
	plan    plan
	pass    pass   // at the gate, of what a goroutine executes
	out     []byte // replies that are not sent
	scratch []byte // where a reply that is not from a node is built
}

func newSession(server *Server, conn net.Conn, id int64) *session {
	s := &session{
		server: server,
		id:     id,
		conn: clientConn{
			Conn:         conn,
			writeTimeout: server.cfg.WriteTimeout,
			idleTimeout:  server.cfg.IdleTimeout,
			closing:      &server.closing,
		},
		plan: newPlan(),
	}
	s.reader = resp.NewReader(&s.conn, server.cfg.Limits)
	s.reader.OnResize(func(bytes int) { s.holds.input(s, bytes) })
	s.info.created = time.Now()
	s.info.active.Store(s.info.created.UnixMilli())
	s.setAuthenticated(server.cfg.Password == "")
	return s
}

// setAuthenticated says whether the client may use commands, and with that how
// large they may be.
func (s *session) setAuthenticated(yes bool) {
	s.authenticated = yes
	limits := s.server.cfg.Limits
	if !yes {
		limits = limits.BeforeAuthentication()
	}
	s.reader.SetLimits(limits)
}

// serve runs the session to its end, or until it can be left to the front. It begins with
// what a round has left.
func (s *session) serve() {
	defer func() {
		if cause := recover(); cause != nil {
			s.crashed(cause)
		}
	}()
	s.conn.hasty, s.conn.stuck = false, false
	s.run()
	s.flush()
	for !s.quit && !s.broken {
		err := s.server.bulk.read(s)
		if errors.Is(err, errNotNow) && s.release() {
			return
		}
		s.received(err)
	}
	s.end()
}

// received answers what one read delivered, with one write.
func (s *session) received(err error) {
	switch {
	case err == nil:
		s.next = 0
		s.info.active.Store(time.Now().UnixMilli())
		s.run()
	case !errors.Is(err, errNotNow):
		s.readFailed(err)
	}
	s.flush()
}

// end closes the connection, after what waits for the client was sent.
func (s *session) end() {
	defer s.server.leave(s)
	defer s.conn.Close()
	if s.conn.slow {
		s.server.stats.SlowReaders.Add(1)
	}
	if !s.broken {
		s.conn.linger()
	}
}

// readFailed decides how the session ends when nothing more can be read.
func (s *session) readFailed(err error) {
	var violation *resp.ProtocolError
	switch {
	case errors.Is(err, resp.ErrHTTP):
		s.attacked()
	case errors.As(err, &violation):
		s.server.stats.ProtocolErrors.Add(1)
		s.reply(command.OpNone, resp.AppendError(s.scratch[:0], "ERR "+violation.Error()))
		s.quit = true
	case s.server.closing.Load():
		s.quit = true
	default: // The client is gone, or was idle for too long.
		s.broken = true
	}
}

// run executes the commands of input that are left and puts their replies in out.
func (s *session) run() {
	for s.next < s.input.Len() && !s.quit && !s.broken {
		if s.plan.full() {
			s.finish()
		}
		args := s.input.Command(s.next)
		s.next++
		s.dispatch(command.Lookup(args[0]), args)
	}
	s.finish()
}

// dispatch plans the operations of a command, or answers it.
func (s *session) dispatch(cmd *command.Command, args [][]byte) {
	s.info.command.Store(called(cmd, args))
	if cmd == nil {
		if crossProtocol(args[0]) {
			s.finish()
			s.attacked()
			return
		}
		s.refuse(command.OpNone, unknownCommand(args))
		return
	}
	switch {
	case !cmd.ArityOK(len(args)):
		s.refuse(cmd.Op, wrongArity(cmd.Name))
	case !s.authenticated && cmd.Flags&command.FlagNoAuth == 0:
		s.refuse(cmd.Op, errNoAuth)
	case !s.server.loaded.Load() && s.loading(cmd, args):
	case (s.barred != 0 || cmd.Route == command.RouteUnsupported) && s.transactional(cmd):
	case s.inNoDatabase(cmd):
		s.refuse(cmd.Op, errInNoDB)
	case s.barred != 0 && s.toBeCached(cmd):
		s.refuse(cmd.Op, errToBeCached)
	default:
		s.route(cmd, args)
	}
}

func (s *session) route(cmd *command.Command, args [][]byte) {
	switch cmd.Route {
	case command.RouteRead:
		s.plan.one(cmd, args, false, s.resp3)
	case command.RouteWrite:
		s.plan.one(cmd, args, true, s.resp3)
	case command.RouteSplit:
		s.plan.split(cmd, args, s.resp3)
	case command.RouteGather:
		s.plan.gather(cmd, args, s.resp3)
	default:
		s.answer(cmd, args)
	}
}

// answer executes everything planned so far, and then a command that is not made
// of operations on keys.
func (s *session) answer(cmd *command.Command, args [][]byte) {
	s.finish()
	if s.broken {
		return
	}
	run := handlers[cmd.Op]
	if run == nil {
		s.refuse(cmd.Op, unsupported(cmd.Name))
		return
	}
	start := time.Now()
	s.scratch = run(s, s.scratch[:0], args)
	s.server.stats.count(cmd.Op, time.Since(start))
	s.reply(cmd.Op, s.scratch)
	if cap(s.scratch) > maxScratch {
		s.scratch = nil
	}
}

// maxScratch is the largest scratch buffer that is kept for the next command.
const maxScratch = 64 << 10

// refuse answers with an error, in its turn.
func (s *session) refuse(op command.Op, err error) {
	s.finish()
	s.server.stats.count(op, 0)
	s.reply(op, route.AppendReply(s.scratch[:0], err))
}

// crashed ends a session that ran into a bug. The other sessions go on.
func (s *session) crashed(cause any) {
	defer s.server.leave(s)
	defer s.conn.Close()
	s.server.stats.Panics.Add(1)
	s.server.cfg.Logger.Error("a bug in quoll ended a client's connection; please report it",
		"client", s.conn.RemoteAddr(), "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
	s.conn.hasty, s.conn.stuck = false, false
	s.replies = replyOn
	s.reply(command.OpNone, route.AppendReply(nil, errInternal))
	s.flush()
	s.conn.linger()
}
