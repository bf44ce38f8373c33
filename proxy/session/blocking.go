package session

import (
	"bytes"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// blocking is a command that waits for keys to be filled. Its arguments are its own.
type blocking struct {
	cmd    *command.Command
	args   [][]byte
	keys   [][]byte            // in the order of its arguments
	stream *command.StreamRead // of XREAD and XREADGROUP: its arguments, taken apart
}

// tryAgain is the time after which a command is tried again that could not be executed.
const tryAgain = 200 * time.Millisecond

var errUnblocked = route.Refuse("UNBLOCKED client unblocked via CLIENT UNBLOCK")

// wait executes a command that waits for keys, as BLPOP does: at once if there is something, or later.
func (s *Session) wait(cmd *command.Command, args [][]byte) {
	s.finish()
	if s.conn.Broken() {
		return
	}
	b := blocking{cmd: cmd, args: copied(args)}
	b.keys, _ = cmd.AllKeys(b.args)
	timeout, problem := command.Timeout(command.TimeoutOf(cmd.Op, args))
	pops := cmd.Op == command.OpBLMPop || cmd.Op == command.OpBZMPop
	switch {
	case pops && len(b.keys) > len(args)-4: // nothing is behind the keys
		s.refuse(cmd.Op, errSyntax)
		return
	case b.whole() && !sameSlot(b.keys): // which Redis says before it reads the other arguments
		s.refuse(cmd.Op, errCrossSlot)
		return
	case problem == "":
	case pops || cmd.Op == command.OpBLMove: // a node finds out whether something else is wrong, which comes first
		one, key := b.args, anywhere(cmd.Name)
		if len(b.keys) > 0 {
			key = b.keys[0]
			if !b.whole() {
				one = b.of(key)
			}
		}
		s.plan.together(cmd, one, key, s.resp3)
		s.finish()
		return
	default:
		s.refuse(cmd.Op, route.Refuse(problem))
		return
	}
	if b.whole() { // the other one is where to
		b.keys = b.keys[:1]
	}
	s.block(b, milliseconds(timeout))
}

// block executes a command that waits, or has it wait for so long, or for ever if that is 0.
func (s *Session) block(b blocking, timeout time.Duration) {
	cmd, args, begun := b.cmd, b.args, time.Now()
	rooms, behind := s.service.waiting.enter(&b)
	if !behind { // who came before is served before
		if reply, _ := s.first(&b); reply != nil {
			s.service.waiting.exit(rooms)
			s.executedOne(cmd, args, time.Since(begun))
			s.reply(cmd.Op, reply)
			return
		}
	}
	w := &waiter{session: s, blocking: b, begun: begun, unlooked: behind}
	s.blocked = w
	s.info.waits.Store(w)
	s.service.waiting.join(w)
	s.service.waiting.exit(rooms)
	if timeout > 0 { // the look may have taken longer
		w.timer = time.AfterFunc(timeout-time.Since(begun), func() { s.service.waiting.end(w, timedOut) })
	}
	s.goOn()
}

// goOn does for a client that waits what can be done now. It reports whether the client does not wait any more; if it does, its connection is parked.
func (s *Session) goOn() bool {
	w := s.blocked
	for {
		keys, end := s.service.waiting.tries(w)
		if len(keys) > 0 && s.conn.Gone() { // what it got would be lost
			s.conn.Break()
			return false
		}
		if len(keys) > 0 {
			if reply := s.try(w, keys); reply != nil {
				s.unblock(reply)
				return true
			}
			s.service.waiting.missed(w)
			continue
		}
		switch end {
		case goesOn:
			s.conn.Park()
			return false
		case unblockedByError:
			s.unblock(route.AppendReply(nil, errUnblocked))
		case timedOut:
			s.unblock(s.last(w))
		default:
			s.unblock(resp.AppendNullArray(nil, s.resp3))
		}
		return true
	}
}

// last returns the reply to a client whose time is over: null. One that came behind others looks for the first time now, if these took so long: there may have been something all the time.
func (s *Session) last(w *waiter) []byte {
	if w.unlooked && !s.conn.Gone() {
		if reply, _ := s.first(&w.blocking); reply != nil {
			return reply
		}
	}
	return resp.AppendNullArray(nil, s.resp3)
}

// unblock answers a client that has waited.
func (s *Session) unblock(reply []byte) {
	w := s.blocked
	s.stopWaiting()
	s.service.stats.count(w.cmd.Op, 0) // it has waited, which is no work
	s.reply(w.cmd.Op, reply)
}

// stopWaiting ends that the client waits.
func (s *Session) stopWaiting() {
	w := s.blocked
	if w == nil {
		return
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	s.service.waiting.leave(w)
	s.blocked = nil
	s.info.waits.Store(nil)
}

// first executes the command for the first time. It returns nil if there is nothing.
func (s *Session) first(b *blocking) (reply []byte, outcome answer.Outcome) {
	if b.stream != nil {
		return s.readEntries(b, false)
	}
	if len(b.keys) > 1 && !sameSlot(b.keys) {
		return s.each(b, b.keys)
	}
	return s.attempt(b.cmd.Op, b.args)
}

// each executes the command on one key after the other, until there is something.
func (s *Session) each(b *blocking, keys [][]byte) (reply []byte, outcome answer.Outcome) {
	for _, key := range keys {
		if reply, outcome = s.attempt(b.cmd.Op, b.of(key)); reply != nil {
			break
		}
	}
	return reply, outcome
}

// try executes the command of a client that waits, for keys that may have been filled. It returns nil if it has to go on waiting: there is nothing for it, or it could not be
// found out.
func (s *Session) try(w *waiter, keys [][]byte) []byte {
	if w.stream != nil {
		return s.tryEntries(w)
	}
	for _, key := range keys {
		args := w.args
		if !w.whole() {
			args = w.of(key)
		}
		reply, outcome := s.attempt(w.cmd.Op, args)
		switch {
		case reply == nil:
		case outcome == answer.NotDone:
			s.service.waiting.again(w, tryAgain)
		case bytes.HasPrefix(reply, wrongType) && !(w.whole() && s.holdsList(key)): // it is filled, but not for this client
		default:
			return reply
		}
	}
	return nil
}

// holdsList reports whether a key holds a list.
func (s *Session) holdsList(key []byte) bool {
	op := s.execute(command.Request{Op: command.OpType, Args: [][]byte{[]byte("TYPE"), key}}, false)
	return string(op.Reply) == "+list\r\n"
}

// attempt executes a command that waits as if its time were up. It returns nil if there is nothing.
func (s *Session) attempt(op command.Op, args [][]byte) (reply []byte, outcome answer.Outcome) {
	op, args = command.Unblocked(op, args)
	switch cmd := command.ByOp(op); {
	case cmd.Route != command.RouteWait:
		s.together(cmd, args)
	case len(args) == 3:
		s.plan.one(cmd, args, true, s.resp3)
	default:
		s.plan.together(cmd, args, args[1], s.resp3)
	}
	s.executeBatch(s.plan.batch)
	done := &s.plan.batch.Ops[0]
	outcome = done.Outcome
	if !nothing(done.Reply) {
		reply = buffer.Clone(done.Reply)
	}
	s.plan.reset()
	return reply, outcome
}

// nothing reports whether a reply is null.
func nothing(reply []byte) bool {
	return string(reply) == "*-1\r\n" || string(reply) == "$-1\r\n" || string(reply) == "_\r\n"
}

// reads reports whether the command takes nothing, so that all who wait may have the same.
func (b *blocking) reads() bool { return b.cmd.Op == command.OpXRead }

// watching says of which changes of its keys the command wants to hear.
func (b *blocking) watching() protocol.WatchKind {
	if b.cmd.Op == command.OpXReadGroup { // without the stream there is no group any more
		return protocol.WatchAll
	}
	return protocol.WatchFilled
}

// whole reports whether the command cannot be executed on one of its keys alone.
func (b *blocking) whole() bool {
	return b.cmd.Op == command.OpBLMove || b.cmd.Op == command.OpBRPopLPush
}

// of returns the arguments of the command on one of its keys alone.
func (b *blocking) of(key []byte) [][]byte {
	switch b.cmd.Op {
	case command.OpBLMPop, command.OpBZMPop:
		return append([][]byte{b.args[0], b.args[1], []byte("1"), key}, b.args[3+len(b.keys):]...)
	}
	return [][]byte{b.args[0], key, b.args[len(b.args)-1]}
}

// room names the room in which the command waits for a key. Lists and sorted sets have different ones, for who waits for one is not served by the other.
func (b *blocking) room(key []byte) string {
	kind := "list"
	switch b.cmd.Op {
	case command.OpXRead:
		kind = "stream"
	case command.OpXReadGroup:
		kind = fmt.Sprintf("group %q", b.stream.Group())
	case command.OpBZPopMin, command.OpBZPopMax, command.OpBZMPop:
		kind = "zset"
	}
	return kind + ":" + string(key)
}
