package proxy

import (
	"bytes"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/lcs"
	"github.com/quolldb/quoll/internal/resp"
)

// finish executes what is planned and writes the replies, in the order of the
// commands.
func (s *session) finish() {
	p := &s.plan
	if len(p.commands) == 0 {
		return
	}
	start := time.Now()
	s.server.cluster.Execute(p.batch)
	took := time.Since(start)

	stats := &s.server.stats
	stats.BatchOps.Observe(uint64(len(p.batch.Ops)))
	stats.BatchTime.Observe(uint64(took.Microseconds()))
	each := took / time.Duration(len(p.commands))
	for i := range p.commands {
		stats.count(p.commands[i].cmd.Op, each)
		s.assemble(&p.commands[i])
	}
	s.adaptBatches()
	p.reset()
}

// adaptBatches chooses the size of the next batches so that their replies, if
// they are like those of the last one, stay below the output limit.
func (s *session) adaptBatches() {
	bytes := 1
	for i := range s.plan.batch.Ops {
		bytes += len(s.plan.batch.Ops[i].Reply)
	}
	fit := s.server.cfg.OutputLimit * len(s.plan.batch.Ops) / bytes
	s.plan.maxOps = min(max(fit, 1), maxBatchOps)
}

// assemble writes the reply of one command.
func (s *session) assemble(c *planned) {
	ops := s.plan.batch.Ops[c.first : c.first+c.count]
	if c.cmd.Route != command.RouteSplit && c.cmd.Route != command.RouteGather {
		s.reply(c.cmd.Op, ops[0].Reply)
		return
	}
	if failure := failureOf(ops, c.cmd.Flags&command.FlagWrite != 0); failure != nil {
		s.reply(c.cmd.Op, failure)
		return
	}
	switch c.cmd.Op {
	case command.OpMGet:
		s.assembleArray(ops)
		return
	case command.OpMSet:
		s.scratch = append(s.scratch[:0], resp.OK...)
	case command.OpLCS:
		s.scratch = lcs.LCS(s.scratch[:0], bulkValue(ops[0].Reply), bulkValue(ops[1].Reply), c.args[3:], ops[0].Req.RESP3)
	default:
		s.scratch = resp.AppendInt(s.scratch[:0], sum(ops))
	}
	s.reply(c.cmd.Op, s.scratch)
}

// assembleArray writes the replies of the operations as an array.
func (s *session) assembleArray(ops []Op) {
	if s.replies == replyOn {
		s.scratch = resp.AppendArray(s.scratch[:0], len(ops))
		s.write(s.scratch)
		for i := range ops {
			s.write(ops[i].Reply)
		}
	}
	s.replied()
}

// sum adds up integer replies.
func sum(ops []Op) (total int64) {
	for i := range ops {
		n, _ := resp.ParseInt(bytes.TrimSuffix(ops[i].Reply[1:], crlf))
		total += n
	}
	return total
}

var crlf = []byte("\r\n")

// bulkValue returns the value of a bulk reply, nil for a null.
func bulkValue(reply []byte) []byte {
	end := bytes.IndexByte(reply, '\n')
	if reply[0] != '$' || end < 0 || len(reply) < end+3 {
		return nil
	}
	return reply[end+1 : len(reply)-2]
}

// failureOf returns the error reply of a command of which not every operation was
// done, nil if all were. For a write it says what became of how many keys.
func failureOf(ops []Op, write bool) []byte {
	done, unknown, first := 0, 0, -1
	for i := range ops {
		refused := ops[i].Outcome == NoEffect || len(ops[i].Reply) > 0 && ops[i].Reply[0] == '-'
		switch {
		case ops[i].Outcome == Unknown:
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
		return AppendReply(nil, fmt.Errorf("%w: %d of %d keys were written; nothing was done to the other %d. The first of them answered: %s",
			errPartly, done, len(ops), len(ops)-done, errorText(ops[first].Reply)))
	}
	return AppendReply(nil, fmt.Errorf("%w: %d of %d keys were certainly written and %d certainly not; the outcome for the other %d is not known. "+
		"Read them before repeating it", errPartly, done, len(ops), len(ops)-done-unknown, unknown))
}

// errorText returns an error reply without its frame.
func errorText(reply []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimPrefix(reply, []byte("-")), crlf)
}
