package session

import (
	"bytes"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/hyperloglog"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// finish executes what is planned and writes the replies.
func (s *Session) finish() {
	p := &s.plan
	if len(p.commands) == 0 {
		return
	}
	s.executed(s.executePlan())
}

// executed writes the replies of what was planned, in the order of the commands.
func (s *Session) executed(took time.Duration) {
	p := &s.plan
	if p.publishing {
		s.conn.Deliver() // what the client has published for itself comes before the reply
	}
	executed := 0
	for i := range p.commands {
		executed += min(p.commands[i].count, 1)
	}
	each := took / time.Duration(max(executed, 1))
	for i := range p.commands {
		c := &p.commands[i]
		var calls []command.Call
		if c.count == 1 {
			calls = s.again(&p.batch.Ops[c.first])
		}
		switch {
		case c.count == 0:
			s.answerPlanned(c)
			continue
		case c.cmd.Op == command.OpExec:
			p.batch.Ops[c.first].Reply = s.withoutMemory(p.batch.Ops[c.first].Reply)
			s.feedExec(c.cmd, s.database, c.args, c.queue, p.batch.Ops[c.first].Reply, calls)
			s.countQueued(c.queue, p.batch.Ops[c.first].Reply, each)
		case calls != nil:
			s.feedCalls(calls)
		}
		s.executedOne(c.cmd, c.args, each)
		s.assemble(c)
	}
	s.adaptBatches()
	p.reset()
	if len(s.reading) > 0 {
		s.service.tracked.settle(s)
	}
}

// answerPlanned answers a command that needs no operation.
func (s *Session) answerPlanned(c *planned) {
	if c.rejected {
		s.service.stats.countWord(c.reply)
		s.write(c.reply)
		return
	}
	s.reply(c.op, c.reply)
}

// replyBudget is how many bytes of replies a batch should bring, since all of them are in memory
// at once, here and in the nodes.
const replyBudget = 8 << 20

// adaptBatches chooses the size of the next batches.
func (s *Session) adaptBatches() {
	bytes := 1
	for i := range s.plan.batch.Ops {
		bytes += len(s.plan.batch.Ops[i].Reply)
	}
	s.plan.maxOps = nextBatch(s.plan.maxOps, len(s.plan.batch.Ops), bytes, min(replyBudget, int(s.service.config.outputLimit.Load())))
}

// nextBatch returns how many operations the next batch may have so that its replies, if they are like
// the bytes that the last ops brought, stay within the budget. It grows step by step: the first
// replies of a client say how large the next ones will be.
func nextBatch(maxOps, ops, bytes, budget int) int {
	return max(1, min(budget*ops/bytes, 4*maxOps, maxBatchOps))
}

// assemble writes the reply of one command.
func (s *Session) assemble(c *planned) {
	ops := s.plan.batch.Ops[c.first : c.first+c.count]
	if c.whole || c.cmd.Route != command.RouteSplit && c.cmd.Route != command.RouteGather {
		s.reply(c.cmd.Op, ops[0].Reply)
		return
	}
	atOnce := ops[0].Req.Op == command.OpBatch
	ops = partsOf(ops)
	if failure := failureOf(ops, c.cmd.Flags&command.FlagWrite != 0); failure != nil {
		if c.cmd.Op == command.OpLCS && bytes.HasPrefix(failure, wrongType) { // it is a GET that was executed
			failure = route.AppendReply(nil, errNotStrings)
		}
		s.reply(c.cmd.Op, failure)
		return
	}
	if c.cmd.Route == command.RouteGather {
		s.reply(c.cmd.Op, s.gathered(c, ops, atOnce))
		return
	}
	switch c.cmd.Op {
	case command.OpMGet:
		s.assembleArray(ops)
		return
	case command.OpMSet:
		s.scratch = append(s.scratch[:0], resp.OK...)
	case command.OpPFCount:
		s.scratch = appendEstimate(s.scratch[:0], ops)
	default:
		s.scratch = resp.AppendInt(s.scratch[:0], sum(ops))
	}
	s.reply(c.cmd.Op, s.scratch)
}

// assembleArray writes the replies of the operations as an array.
func (s *Session) assembleArray(ops []route.Op) {
	if s.replies == replyOn {
		s.scratch = resp.AppendArray(s.scratch[:0], len(ops))
		s.conn.Write(s.scratch)
		for i := range ops {
			s.conn.Write(ops[i].Reply)
		}
	}
	s.replied()
}

// appendEstimate appends the reply of PFCOUNT.
func appendEstimate(dst []byte, ops []route.Op) []byte {
	if len(ops) == 1 {
		return append(dst, ops[0].Reply...)
	}
	all := new(hyperloglog.Registers)
	for i := range ops {
		value := bulkValue(ops[i].Reply)
		if value == nil {
			continue
		}
		if hyperloglog.Check(value) != nil || all.Merge(value) != nil { // a node that says it is one is of another version
			return route.AppendReply(dst, errNoSketch)
		}
	}
	return resp.AppendInt(dst, int64(all.Estimate()))
}

// sum adds up integer replies.
func sum(ops []route.Op) (total int64) {
	for i := range ops {
		n, _ := resp.ParseInt(bytes.TrimSuffix(ops[i].Reply[1:], crlf))
		total += n
	}
	return total
}

var (
	crlf      = []byte("\r\n")
	wrongType = []byte("-WRONGTYPE ")
)

// bulkValue returns the value of a bulk reply, nil for a null.
func bulkValue(reply []byte) []byte {
	if kind, value := resp.Value(reply); kind == '$' {
		return value
	}
	return nil
}

// failureOf returns the error reply of a command of which not every operation was
// done, nil if all were. For a write it says what became of how many keys.
func failureOf(ops []route.Op, write bool) []byte {
	done, unknown, first := 0, 0, -1
	for i := range ops {
		refused := ops[i].Outcome == answer.NotDone || len(ops[i].Reply) > 0 && ops[i].Reply[0] == '-'
		switch {
		case ops[i].Outcome == answer.Unknown:
			unknown++
		case !refused:
			done++
			continue
		}
		if first < 0 {
			first = i
		}
	}
	switch {
	case first < 0:
		return nil
	case !write || len(ops) == 1 || done+unknown == 0:
		return ops[first].Reply
	case unknown == 0:
		return route.AppendReply(nil, fmt.Errorf("%w: %d of %d keys were written; nothing was done to the other %d. The first of them answered: %s",
			errPartly, done, len(ops), len(ops)-done, errorText(ops[first].Reply)))
	}
	return route.AppendReply(nil, fmt.Errorf("%w: %d of %d keys were certainly written and %d certainly not; the outcome for the other %d is not known. "+
		"Read them before repeating it", errPartly, done, len(ops), len(ops)-done-unknown, unknown))
}

// errorText returns an error reply without its frame.
func errorText(reply []byte) []byte {
	_, text := resp.Value(reply)
	return text
}
