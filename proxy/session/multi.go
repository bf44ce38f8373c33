package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// maxKeptBytes is how many bytes the commands of a transaction, and the keys that are watched for it, may take in the proxy.
const maxKeptBytes = 64 << 20

// keptCommand, keptArgument and keptKey are about what a command, an argument and a watched key take beside their bytes.
const keptCommand, keptArgument, keptKey = 160, 24, 160

// transaction is what a client has sent since MULTI.
type transaction struct {
	open bool
	// failed: a command could not be queued, so that EXEC is refused.
	failed bool
	queue  []queued
	// database is that of the next command.
	database int
	bytes    int
	// key is one of the commands'. What all slots have to do with cannot be done at once with it.
	key []byte
	// asks: the cluster is asked for some of the commands, in one operation. writes: one of these may change something; what only reads may be sent again, and its outcome is
	// never unknown.
	asks, writes bool
	// everywhere: there is a command for all slots, of that name.
	everywhere string
	// all is the name that stands for all keys of a database, if there is a command on these, and the database is placed together.
	all []byte
	// asked: it was asked whether there is memory.
	asked bool
	// scripts: some commands are scripts, which have to be found first.
	scripts bool
	// authenticates: some commands may make the client another user. logins is what those of the command come to that is executed at the moment.
	authenticates bool
	logins        []login
	// as is whose the scripts are if it authenticates.
	as scriptsAs
	// pieces: the reply is put together of what the cluster and the proxy answer.
	pieces bool
}

// queued is a command that waits for EXEC. Its arguments are its own.
type queued struct {
	cmd  *command.Command
	args [][]byte
	// op is what the cluster is asked for, with these arguments; OpNone for what run answers.
	op  command.Op
	run handler
	// database is the number of that which it is executed in.
	database int
	// asked are the arguments as the client has sent them.
	asked [][]byte
	// made, if set, makes the reply out of that of op.
	made func(dst, reply []byte, q *queued, resp3 bool) []byte
	// logins is what its logins come to, as EXEC has found out.
	logins []login
	// all: it is on all keys of a database that is placed together. refused: EXEC has found that the user may not execute it.
	all, refused bool
}

var (
	errNestedMulti = route.Refuse("ERR MULTI calls can not be nested")
	errNoExec      = route.Refuse("ERR EXEC without MULTI")
	errNoDiscard   = route.Refuse("ERR DISCARD without MULTI")
	errExecAbort   = route.Refuse("EXECABORT Transaction discarded because of previous errors.")
	errWatchInside = route.Refuse("ERR WATCH inside MULTI is not allowed")
	errTooMuchKept = route.Refuse(fmt.Sprintf("ERR what is queued for this transaction, and watched for it, would take more than %d MiB of the proxy; nothing was done", maxKeptBytes>>20))
	errReplyInside = route.Refuse("ERR CLIENT REPLY OFF and SKIP are not supported by Quoll inside MULTI: the reply of EXEC would be cut; nothing was done")
)

// errEverywhere is the error for a command of all slots in a transaction with keys.
func errEverywhere(name string) error {
	return route.Refuse(fmt.Sprintf("ERR '%s' is of all slots and cannot be in a transaction with commands on keys, or after WATCH, unless the database is placed together: Quoll cannot do both at once. Nothing was done",
		strings.ToUpper(name)))
}

var queuedReply = []byte("+QUEUED\r\n")

// transactional executes the commands that make transactions, and queues what is sent between them. It reports whether that was all.
func (s *Session) transactional(cmd *command.Command, args [][]byte) bool {
	t := &s.multi
	switch cmd.Op {
	case command.OpMulti:
		s.feed(cmd, s.database, args)
		if t.open {
			s.inTurn(cmd, route.AppendReply(nil, errNestedMulti))
			break
		}
		t.open, t.database = true, s.database
		s.info.queued.Store(1)
		s.inTurn(cmd, ok)
	case command.OpExec:
		s.exec(cmd, args)
	case command.OpDiscard:
		s.feed(cmd, s.database, args)
		if !t.open {
			s.inTurn(cmd, route.AppendReply(nil, errNoDiscard))
			break
		}
		s.endTransaction()
		s.inTurn(cmd, ok)
	case command.OpWatch:
		if !t.open {
			return false
		}
		s.feed(cmd, s.database, args)
		s.inTurn(cmd, route.AppendReply(nil, errWatchInside))
	case command.OpQuit, command.OpReset:
		return false
	default:
		if !t.open {
			return false
		}
		s.queue(cmd, args)
	}
	return true
}

var ok = []byte(resp.OK)

// queue keeps a command for EXEC. As in Redis nothing more is kept once one was refused.
func (s *Session) queue(cmd *command.Command, args [][]byte) {
	t := &s.multi
	size := keptCommand
	for _, arg := range args {
		size += keptArgument + len(arg)
	}
	if !t.failed && s.kept()+size > maxKeptBytes {
		s.reject(cmd, args, errTooMuchKept)
		return
	}
	if s.replica && s.notQueuedAtReplica(cmd, args) {
		return
	}
	q, err := s.prepare(cmd, t.database, args)
	if err == nil {
		err = s.admit(&q)
	}
	if err == nil {
		err = s.room(&q)
	}
	if err != nil {
		s.reject(cmd, args, err)
		return
	}
	if !t.failed {
		t.queue = append(t.queue, q)
		t.bytes += size
		t.authenticates = t.authenticates || authenticates(q.cmd.Op)
		if q.cmd.Op == command.OpSelect {
			t.selects(args[1])
		}
		s.info.queued.Store(int64(len(t.queue) + 1))
		s.keep()
	}
	s.answerInTurn(cmd.Op, queuedReply, false)
}

// selects has the commands that follow be of a database, if there is one of that number.
func (t *transaction) selects(arg []byte) {
	if number, problem := command.Database(arg); problem == "" {
		t.database = number
	}
}

// admit decides whether a command can be executed at once with those before it: on keys of one slot, and on nothing else.
func (s *Session) admit(q *queued) error {
	t := &s.multi
	if q.cmd.Route == command.RouteCluster && !q.refused {
		return s.admitCluster(q)
	}
	if q.op == command.OpNone {
		t.pieces = true
		return nil
	}
	if t.everywhere != "" {
		return errEverywhere(t.everywhere)
	}
	keys, _ := command.ByOp(q.op).AllKeys(q.args) // if it says wrongly how many it has, it is for the node to say so
	one := t.anyKey(s)
	for _, key := range keys {
		if one == nil {
			one = key
		}
		if ring.SlotOf(key) != ring.SlotOf(one) {
			return errSlots([][]byte{one, key})
		}
	}
	t.writes = t.writes || command.ByOp(q.op).Writes()
	t.key, t.asks, t.pieces, t.scripts = one, true, t.pieces || q.made != nil, t.scripts || isScript(q.op)
	return nil
}

// endTransaction forgets the transaction, and what is watched for it.
func (s *Session) endTransaction() {
	s.multi = transaction{}
	s.info.queued.Store(0)
	s.forgetWatches()
}

// kept is how many bytes are kept for the client.
func (s *Session) kept() int { return s.multi.bytes + s.watches.bytes }

// keep says so to the front, which counts what is more than little.
func (s *Session) keep() {
	if kept := s.kept() + s.subs.bytes; kept != s.keeps && (kept > 64<<10 || s.keeps > 64<<10) {
		s.keeps = kept
		s.conn.Keep(kept)
	}
}

// failTransaction has EXEC refused. What is queued is not needed any more.
func (s *Session) failTransaction() {
	s.multi.failed, s.multi.queue, s.multi.bytes = true, nil, 0
	s.keep()
}

// inTurn counts and answers a command that needs no operation, behind what is planned. The reply is kept.
func (s *Session) inTurn(cmd *command.Command, reply []byte) {
	s.executedOne(cmd, nil, 0)
	s.answerInTurn(cmd.Op, reply, false)
}

// answerInTurn answers a command behind what is planned. The reply is kept.
func (s *Session) answerInTurn(op command.Op, reply []byte, rejected bool) {
	c := planned{op: op, reply: reply, rejected: rejected}
	if len(s.plan.commands) == 0 {
		s.answerPlanned(&c)
		return
	}
	s.plan.commands = append(s.plan.commands, c)
}

// copied returns a copy of arguments.
func copied(args [][]byte) [][]byte {
	n := 0
	for _, arg := range args {
		n += len(arg)
	}
	all, list := make([]byte, 0, n), make([][]byte, len(args))
	for i, arg := range args {
		from := len(all)
		all = append(all, arg...)
		list[i] = slices.Clip(all[from:])
	}
	return list
}
