package session

import (
	"errors"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/route"
)

// Session is what a proxy knows of one client, and executes its commands. It belongs to whoever owns the connection. Others touch only
// info and the methods of conn that say so.
type Session struct {
	service *Service
	conn    *front.Conn
	info    clientInfo

	who      userState
	resp3    bool
	database int // that SELECT has chosen
	tracking tracking
	wrote    ownWrites
	unheld   unheld
	// undurable is where it wrote what all replicas hold, of which it is not known that it is on all their disks.
	undurable unheld
	reading   []*trackedKey // what is planned reads these, and the client keeps them
	replies   replyMode
	replica   bool // it has come by a replica port
	readonly  bool // READONLY
	monitor   bool // it sees what others do: see monitor.go
	shown     bool // others see what the command that is being dispatched does, which is executed by itself, so that they see it in its order
	multi     transaction
	watches   watches
	subs      subscriptions
	blocked   *waiter // it waits; nil if it does not
	keeps     int     // bytes of these, as the front knows them

	plan     plan
	planning bool   // Plan is under way, which asks the cluster nothing
	scratch  []byte // where a reply that is not from a node is built
}

// Open returns the session of a new connection.
func (s *Service) Open(conn *front.Conn) *Session {
	session := &Session{service: s, conn: conn, plan: newPlan(), replica: conn.AtReplica(), readonly: conn.AtReplica()}
	s.users.server.CompareAndSwap(nil, conn.Server())
	session.beginUser()
	return session
}

// all returns the sessions of all clients, oldest first.
func (s *Session) all() []*Session {
	conns := s.conn.Server().Conns()
	list := make([]*Session, 0, len(conns))
	for _, c := range conns {
		if !c.HungUp() { // it may be in the middle of something
			list = append(list, c.Session().(*Session))
		}
	}
	return list
}

// Reject implements front.Session.
func (s *Session) Reject(err error) {
	var violation *resp.ProtocolError
	switch {
	case errors.Is(err, resp.ErrHTTP):
		s.attacked()
	case errors.As(err, &violation):
		s.service.stats.ProtocolErrors.Add(1)
		s.reply(command.OpNone, resp.AppendError(s.scratch[:0], "ERR "+violation.Error()))
	default:
		s.replies = replyOn
		s.reply(command.OpNone, route.AppendReply(nil, err))
	}
}

// Closed implements front.Session.
func (s *Session) Closed() {
	s.stopWaiting()
	s.setTracking(tracking{})
	s.unsubscribeAll()
}

// Run implements front.Session.
func (s *Session) Run() {
	if s.blocked != nil && !s.goOn() {
		return
	}
	for s.conn.More() && !s.conn.Ending() {
		if s.plan.full() {
			s.finish()
		}
		args := s.conn.Peek()
		s.conn.Skip()
		cmd := command.Lookup(args[0])
		s.shown = s.service.look.monitors.any()
		if s.awaitPause(cmd, args); !s.conn.Ending() {
			s.dispatch(cmd, args)
		}
		if s.blocked != nil {
			return
		}
	}
	s.finish()
}

// dispatch plans the operations of a command, or answers it.
func (s *Session) dispatch(cmd *command.Command, args [][]byte) {
	if s.who.set != s.service.users.now.Load() {
		s.followUsers()
	}
	s.info.command.Store(cmd.Called(args))
	if s.plan.publishing && (cmd == nil || !cmd.Op.Publishes() || s.multi.open) {
		s.finish()
	}
	if cmd == nil {
		if crossProtocol(args[0]) {
			s.finish()
			s.attacked()
			return
		}
		s.reject(nil, args, unknownCommand(args))
		return
	}
	switch {
	case !cmd.ArityOK(len(args)) && (!s.multi.open || !cmd.Enough(len(args))):
		s.reject(cmd, args, wrongArity(cmd.Name))
	case !s.who.authenticated && cmd.Flags&command.FlagNoAuth == 0 && !s.mayUseCommands():
		s.reject(cmd, args, s.unknown(errNoAuth))
	case s.who.guarded && s.denies(cmd, args):
	case s.subs.count > 0 && !s.resp3 && !whileSubscribed(cmd.Op):
		s.reject(cmd, args, notWhileSubscribed(cmd, args))
	case (!s.service.loaded.Load() || s.who.set.provisional) && s.loading(cmd, args):
	case s.monitor && onKeys(cmd):
		s.reject(cmd, args, errMonitorOnly)
	case s.transactional(cmd, args):
	default:
		s.route(cmd, args)
	}
	s.cached(cmd)
}

// route plans or answers a command that is of no transaction, on keys by the names under which the client's database keeps them.
func (s *Session) route(cmd *command.Command, args [][]byte) {
	s.feed(cmd, s.database, args)
	problem := s.sortProblem(cmd, args)
	if problem == "" {
		args, problem = s.named(cmd, s.database, args)
	}
	if problem != "" {
		s.refuse(cmd.Op, route.Refuse(problem))
		return
	}
	if s.service.cfg.Topology != nil && s.moved(cmd, args) {
		return
	}
	if s.replica && s.refusedAtReplica(cmd, args) {
		return
	}
	if s.tracking.on {
		s.track(cmd, args)
	}
	if cmd.Flags&command.FlagBlocking != 0 && cmd.Route != command.RouteWait && s.waitForEntries(cmd, args) {
		return
	}
	switch cmd.Route {
	case command.RouteRead:
		from := len(s.plan.batch.Ops)
		s.read(cmd, args)
		s.readNearest(from)
	case command.RouteWrite:
		s.plan.one(cmd, args, true, s.resp3)
	case command.RouteSlot:
		switch {
		case isCall(cmd.Op):
			s.fcall(cmd, args)
		case isScript(cmd.Op):
			s.eval(cmd, args)
		default:
			s.together(cmd, args)
		}
	case command.RouteSplit:
		if key := oneSlot(cmd, args); key != nil {
			s.plan.together(cmd, args, key, s.resp3)
			return
		}
		from := len(s.plan.batch.Ops)
		s.plan.split(cmd, args, s.resp3)
		s.readNearest(from)
	case command.RouteGather:
		s.gather(cmd, args)
	case command.RouteWait:
		s.wait(cmd, args)
	default:
		if cmd.Op.Publishes() {
			s.publish(cmd, args)
			return
		}
		s.answer(cmd, args)
	}
}

// named returns the arguments of a command with its keys as a database names them. The problem is a reply.
func (s *Session) named(cmd *command.Command, database int, args [][]byte) ([][]byte, string) {
	called := cmd.Called(args)
	if called == nil {
		return args, ""
	}
	return called.In(database, s.service.cluster.Placements(), args)
}

// answer executes everything planned so far, and then a command that is not made
// of operations on keys.
func (s *Session) answer(cmd *command.Command, args [][]byte) {
	s.finish()
	if s.conn.Broken() {
		return
	}
	run := handlers[cmd.Op]
	if run == nil {
		s.reject(cmd, args, unsupported(cmd.Name))
		return
	}
	start := time.Now()
	s.scratch = run(s, s.scratch[:0], args)
	called := cmd.Called(args)
	s.executedOne(called, args, time.Since(start))
	s.reply(countedAs(called), s.scratch)
	if cap(s.scratch) > maxScratch {
		s.scratch = nil
	}
}

// maxScratch is the largest scratch buffer that is kept for the next command.
const maxScratch = 64 << 10

// reject answers a command that is not executed, in its turn. A transaction that it would have been part of is not executed either.
func (s *Session) reject(cmd *command.Command, args [][]byte, err error) {
	op := countedAs(cmd.Called(args))
	s.service.stats.reject(op)
	s.answerInTurn(op, route.AppendReply(nil, s.refused(op, err)), true)
}

// refuse answers a command that has failed, in its turn. A transaction that it would have been part of is not executed.
func (s *Session) refuse(op command.Op, err error) {
	s.service.stats.count(op, 0)
	s.answerInTurn(op, route.AppendReply(nil, s.refused(op, err)), false)
}

// refused ends a transaction of which a command was refused, and returns the error that is the reply.
func (s *Session) refused(op command.Op, err error) error {
	switch {
	case op == command.OpExec:
		err = s.abortExec(err)
	case s.multi.open:
		s.failTransaction()
	}
	return err
}

// execute executes one operation by itself.
func (s *Session) execute(req command.Request, write bool) route.Op {
	var batch route.Batch
	batch.Add(req, write)
	s.executeAtOnce(&batch)
	return batch.Ops[0]
}
