package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/proxy/route"
)

var errNoFunction = route.Refuse(command.ErrNoFunction)

// fcall executes FCALL and FCALL_RO. Nodes keep no functions: the proxy sends the code of the library with its command. As a script, a function that was seen just now, and uses no keys but
// those that it is given, is planned as other commands are; any other is executed at once.
func (s *Session) fcall(cmd *command.Command, args [][]byte) {
	keys, ok := cmd.AllKeys(args)
	if len(keys) > 0 && !sameSlot(keys) {
		s.refuse(cmd.Op, errCrossSlot)
		return
	}
	f, planned := s.service.functions.fresh(args[1])
	planned = planned && len(keys) > 0 && !s.shown
	if !planned {
		s.finish()
	}
	if f == nil {
		var err error
		if f, err = s.function(args[1]); err == nil && f == nil {
			err = errNoFunction
		}
		if err != nil {
			s.refuse(cmd.Op, err)
			return
		}
	}
	if !ok {
		_, problem := command.CallKeys(args[2], len(args)-3)
		s.refuse(cmd.Op, route.Refuse(problem))
		return
	}
	if len(keys) == 0 {
		keys = [][]byte{anywhere(string(args[1]))}
	}
	sent := f.call(cmd.Op, args, s.resp3)
	sent.Database = uint8(s.database)
	s.sendScript(cmd, args, sent, keys[0])
	if !planned {
		s.finish()
	}
}

// call returns what is sent to a node for FCALL or FCALL_RO. One of a function that is not there stays what it is. What does not write needs no write: it is sent as FCALL_RO is.
func (c *callable) call(op command.Op, args [][]byte, resp3 bool) command.Request {
	sent := command.Request{Op: op, Args: args, RESP3: resp3}
	if c == nil {
		return sent
	}
	sent.Op = command.OpCall
	if op == command.OpFCallRO || c.Flags&function.NoWrites != 0 {
		sent.Op = command.OpCallRO
	}
	sent.Args = make([][]byte, 0, len(args)+1)
	sent.Args = append(append(append(sent.Args, args[0], c.code), args[2:]...), []byte(c.Name))
	return sent
}
