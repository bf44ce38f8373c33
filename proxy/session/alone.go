package session

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
)

// alone plans a command of several keys, all of which are the same one, as a command on this key, which costs less than a batch. It reports false if they are not, or if
// the command has no such form.
func (s *Session) alone(cmd *command.Command, args, keys [][]byte) bool {
	for _, key := range keys[1:] {
		if !bytes.Equal(key, keys[0]) {
			return false
		}
	}
	switch cmd.Op {
	case command.OpSMove, command.OpLMove, command.OpRPopLPush, command.OpPFMerge:
		s.plan.one(cmd, args, true, s.resp3)
		return true
	case command.OpLMPop, command.OpZMPop:
		return s.popAlone(cmd, args, keys)
	case command.OpXReadGroup:
		return s.readGroupAlone(cmd, args, keys)
	}
	return false
}

// popAlone plans LMPOP and ZMPOP, which pop from the first key that is there, of one key: key, end, and the count if there is one. It reports false if they are not as they
// have to be: a node says how.
func (s *Session) popAlone(cmd *command.Command, args, keys [][]byte) bool {
	rest := args[2+len(keys):]
	switch {
	case len(rest) == 1:
	case len(rest) == 3 && is(rest[1], "COUNT"):
		if most, ok := resp.ParseInt(rest[2]); !ok || most < 1 {
			return false
		}
		rest = [][]byte{rest[0], rest[2]}
	default:
		return false
	}
	if !isEnd(cmd, rest[0]) {
		return false
	}
	op := len(s.plan.batch.Ops)
	s.plan.part(cmd.Op, args[0], append([][]byte{keys[0]}, rest...), true, s.resp3)
	s.plan.commands = append(s.plan.commands, planned{cmd: cmd, args: args, first: op, count: 1})
	return true
}

// isEnd reports whether an argument is one of the two ends that a command pops from.
func isEnd(cmd *command.Command, arg []byte) bool {
	if cmd.Op == command.OpLMPop {
		return is(arg, "LEFT") || is(arg, "RIGHT")
	}
	return is(arg, "MIN") || is(arg, "MAX")
}
