package session

import (
	"bytes"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/proxy/route"
)

// XREAD and XREADGROUP with BLOCK wait for entries as BLPOP does for elements. What XREAD returns is for all who wait; what XREADGROUP does, for the first of its group.

// The errors for who waits for entries of a group that is not there any more, or whose stream is not.
var (
	errGroupGone  = route.Refuse("NOGROUP the consumer group this client was blocked on no longer exists")
	errStreamGone = route.Refuse("UNBLOCKED the stream key no longer exists")
)

// waitForEntries executes an XREAD or XREADGROUP that would wait, and reports whether it has: what is wrong in it is for a node to say.
func (s *Session) waitForEntries(cmd *command.Command, args [][]byte) bool {
	r, ok := command.StreamReadOf(args)
	if !ok || r.Block() == nil {
		return false
	}
	timeout, err := waitingTime(r.Block())
	if err != nil || cmd.Op == command.OpXReadGroup && (r.Group() == nil || !sameSlot(r.Keys())) {
		return false
	}
	s.finish()
	if s.conn.Broken() {
		return true
	}
	b := blocking{cmd: cmd, args: copied(args)}
	own, _ := command.StreamReadOf(b.args)
	b.stream, b.keys = &own, own.Keys()
	if cmd.Op == command.OpXRead {
		for i := range b.keys {
			if string(own.ID(i)) == "$" { // what is last now, and not whenever it is tried
				own.SetID(i, s.lastID(b.keys[i]))
			}
		}
	}
	s.block(b, timeout)
	return true
}

// lastID returns the ID of the last entry that a stream has been given. If that cannot be found out it is $: whoever executes a command with it finds out why.
func (s *Session) lastID(key []byte) []byte {
	op := s.execute(command.Request{Op: command.OpXInfoKey, Args: [][]byte{[]byte("XINFO"), key, []byte("STREAM")}}, false)
	if bytes.HasPrefix(op.Reply, []byte("-ERR no such key")) {
		return []byte("0-0")
	}
	_, behind, _ := bytes.Cut(op.Reply, []byte("$17\r\nlast-generated-id\r\n$")) // the length, the ID and more
	if lines := bytes.SplitN(behind, []byte("\r\n"), 3); len(lines) == 3 {
		return buffer.Clone(lines[1])
	}
	return []byte("$")
}

// readEntries reads what is there. It returns nil if there is nothing. A client that waits has to read at the homes of its keys: it was told of a write that may not be chosen yet, a quorum may
// not know of that, and it is told once. A home answers behind the writes that are under way.
func (s *Session) readEntries(b *blocking, atHome bool) (reply []byte, outcome answer.Outcome) {
	group := b.cmd.Op == command.OpXReadGroup
	var batch route.Batch
	if group && len(b.keys) > 1 {
		all := command.Batch{Commands: []command.Request{{Op: b.cmd.Op, Args: b.args}}}
		batch.Add(all.Request(b.keys[0], s.resp3), true)
	} else {
		op := command.OpXReadKey
		if group {
			op = command.OpXReadGroupKey
		}
		for i := range b.keys {
			batch.Add(command.Request{Op: op, RESP3: s.resp3, Args: b.stream.One(i)}, group || atHome)
		}
	}
	s.executeBatch(&batch)
	replies := make([][]byte, len(batch.Ops))
	for i := range batch.Ops {
		op := &batch.Ops[i]
		if replies[i] = op.Reply; op.Outcome != answer.Done || op.Reply[0] == '-' {
			return buffer.Clone(op.Reply), op.Outcome
		}
	}
	if len(replies) == 1 {
		reply = buffer.Clone(replies[0])
	} else {
		reply = command.AppendStreamsRead(nil, replies, s.resp3)
	}
	if nothing(reply) {
		return nil, answer.Done
	}
	return reply, answer.Done
}

// tryEntries is try for a client that waits for entries.
func (s *Session) tryEntries(w *waiter) []byte {
	reply, outcome := s.readEntries(&w.blocking, true)
	switch {
	case reply == nil:
	case outcome == answer.NotDone, outcome == answer.Unknown && w.reads():
		s.service.waiting.again(w, tryAgain)
		return nil
	case w.cmd.Op == command.OpXReadGroup && bytes.HasPrefix(reply, wrongType):
		return route.AppendReply(nil, errStreamGone)
	case bytes.HasPrefix(reply, wrongType): // it is filled, but not for this client
		return nil
	case bytes.HasPrefix(reply, []byte("-NOGROUP")):
		return route.AppendReply(nil, s.gone(w))
	}
	return reply
}

// gone says what is not there any more: one of the streams, or the group.
func (s *Session) gone(w *waiter) error {
	for _, key := range w.keys {
		if op := s.execute(command.Request{Op: command.OpType, Args: [][]byte{[]byte("TYPE"), key}}, false); string(op.Reply) != "+stream\r\n" {
			return errStreamGone
		}
	}
	return errGroupGone
}
