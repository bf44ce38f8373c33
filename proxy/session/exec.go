package session

import (
	"bytes"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// exec is EXEC, https://redis.io/commands/exec/. What is on keys is one operation for the cluster, with the keys that are watched. If all is, it is planned like any
// other command; otherwise it is executed now, after what was planned.
func (s *Session) exec(cmd *command.Command, args [][]byte) {
	t := &s.multi
	switch {
	case !t.open:
		s.feed(cmd, s.database, args)
		s.inTurn(cmd, route.AppendReply(nil, errNoExec))
		return
	case t.failed || s.watches.lost:
		s.feed(cmd, s.database, args)
		s.endTransaction()
		s.inTurn(cmd, route.AppendReply(nil, errExecAbort))
		return
	}
	if err := s.recheck(); err != nil {
		s.refuse(cmd.Op, err)
		return
	}
	s.settleAll()
	if s.tracking.on {
		for i := range t.queue {
			s.track(t.queue[i].cmd, t.queue[i].args)
		}
	}
	asks := t.asks || len(s.watches.list) > 0
	switch {
	case t.pieces:
		s.execPieces(cmd, args, asks)
	case asks:
		req, err := s.transaction()
		if err != nil {
			s.refuse(cmd.Op, err)
			return
		}
		first := s.plan.batch.Add(req, t.writes)
		s.plan.commands = append(s.plan.commands, planned{cmd: cmd, args: args, first: first, count: 1, queue: t.queue})
	default:
		s.feed(cmd, s.database, args)
		s.inTurn(cmd, emptyArray)
	}
	s.endTransaction()
	if s.shown { // before what comes next
		s.finish()
	}
}

var emptyArray = []byte("*0\r\n")

// transaction returns the operation that executes the commands on keys, if the watched ones have not changed.
// The error is a reply: nobody can say which functions there are.
func (s *Session) transaction() (command.Request, error) {
	t := &s.multi
	b := command.Batch{Array: true, Shown: s.shown, Watched: s.watches.list}
	switch {
	case t.as.user != nil:
		b.Rules = t.as.rules
	case t.scripts:
		b.Rules = s.scriptRules()
	}
	for i := range t.queue {
		q := &t.queue[i]
		sent := command.Request{Op: q.op, RESP3: s.resp3, Args: q.args}
		if isCall(q.op) {
			f, err := s.function(q.args[1])
			if err != nil {
				return sent, err
			}
			sent = f.call(q.op, q.args, s.resp3)
		}
		if q.op == command.OpEvalSHA || q.op == command.OpEvalSHARO {
			if script, err := s.scriptOf(q.op, q.args, scriptName(q.op, q.args)); err == nil { // else the node says what is wrong
				sent = script
			}
		}
		sent.Database = uint8(q.database)
		if q.op != command.OpNone {
			b.Commands = append(b.Commands, sent)
		}
	}
	key := t.key
	if key == nil && len(s.watches.list) > 0 {
		key = s.watches.list[0].Key
	}
	if key == nil { // scripts that name none, or what is wrong, as a node will say
		key = anywhere("exec")
	}
	return b.Request(key, s.resp3), nil
}

// execPieces executes a transaction of which the proxy answers some commands: in their turn, after those on keys, which are executed first, all at once.
func (s *Session) execPieces(cmd *command.Command, args [][]byte, asks bool) {
	s.finish()
	if s.conn.Broken() {
		return
	}
	start := time.Now()
	var replies []byte // of the commands on keys
	var calls []command.Call
	if asks {
		req, err := s.transaction()
		if err != nil {
			s.refuse(cmd.Op, err)
			return
		}
		var batch route.Batch
		batch.Add(req, s.multi.writes)
		s.executeBatch(&batch)
		calls = s.again(&batch.Ops[0])
		reply := s.withoutMemory(batch.Ops[0].Reply)
		if !isArray(reply) { // nothing was done, or nobody knows
			s.feedExec(cmd, s.database, args, s.multi.queue, reply, nil)
			s.service.stats.count(cmd.Op, time.Since(start))
			s.reply(cmd.Op, reply)
			return
		}
		_, replies, _ = bytes.Cut(reply, crlf)
	}
	s.forgetWatches() // from here on it is executed
	s.feedExec(cmd, s.multi.database, args, s.multi.queue, emptyArray, calls)
	shown := s.replies == replyOn
	if shown {
		s.conn.Write(resp.AppendArray(nil, len(s.multi.queue)))
	}
	for i := range s.multi.queue {
		q := &s.multi.queue[i]
		s.keepScript(q)
		began := time.Now()
		reply := q.answer(s, &replies)
		called := q.cmd.Called(q.args)
		s.executedOne(called, q.args, time.Since(began))
		s.countIfError(countedAs(called), reply)
		if shown || confirms(q.cmd.Op, reply) {
			s.conn.Write(reply)
		}
	}
	s.service.stats.count(cmd.Op, time.Since(start))
	s.replied()
}

// answer returns the reply of a command of a transaction: what the proxy answers, or the next of the cluster's replies, which it takes away.
func (q *queued) answer(s *Session, replies *[]byte) []byte {
	if q.op == command.OpNone {
		s.multi.logins = q.logins
		s.scratch = q.run(s, s.scratch[:0], q.args)
		reply := s.scratch
		if cap(s.scratch) > maxScratch {
			s.scratch = nil
		}
		return reply
	}
	size := resp.Size(*replies)
	if size == 0 {
		return route.AppendReply(nil, errPieces)
	}
	reply := (*replies)[:size]
	*replies = (*replies)[size:]
	if q.made == nil || reply[0] == '-' {
		return reply
	}
	return q.made(nil, reply, q, s.resp3)
}

var errPieces = route.Refuse("ERR a node has left out the reply of this command; proxy and nodes may be of different versions")

// countQueued counts the commands of a transaction, which took that time together, as Redis does: each for itself, with its error. Their scripts are kept.
func (s *Session) countQueued(queue []queued, reply []byte, took time.Duration) {
	if !isArray(reply) || len(queue) == 0 {
		return
	}
	each := took / time.Duration(len(queue))
	_, rest, _ := bytes.Cut(reply, crlf)
	for i := range queue {
		s.keepScript(&queue[i])
		q := &queue[i]
		s.executedOne(q.cmd, q.args, each)
		s.countIfError(q.cmd.Op, rest)
		rest = rest[resp.Size(rest):]
	}
}

// isArray reports whether EXEC was answered with an array: its commands were executed.
func isArray(reply []byte) bool {
	return len(reply) > 1 && reply[0] == '*' && reply[1] != '-'
}

// countIfError counts the reply of a command within a transaction if it is an error.
func (s *Session) countIfError(op command.Op, reply []byte) {
	if len(reply) > 0 && reply[0] == '-' {
		s.service.stats.countError(op, reply)
	}
}

// outOfMemory and discarded are what EXEC is answered when there is no memory for more data: by a node, and to the client.
var (
	outOfMemory = route.AppendReply(nil, route.ErrOutOfMemory)
	discarded   = route.AppendReply(nil, route.Refuse("EXECABORT Transaction discarded because of: "+route.ErrOutOfMemory.Text))
)

// withoutMemory returns the reply of EXEC: one that was refused for want of memory is given up, as in Redis.
func (s *Session) withoutMemory(reply []byte) []byte {
	if bytes.Equal(reply, outOfMemory) {
		s.service.stats.memoryMayBeShort()
		return discarded
	}
	return reply
}

// abortExec answers EXEC when it is refused for what it is itself, which ends the transaction.
func (s *Session) abortExec(err error) error {
	s.endTransaction()
	return route.Refuse("EXECABORT Transaction discarded because of: " + strings.TrimPrefix(err.Error(), "ERR "))
}
