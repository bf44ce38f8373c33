package session

import (
	"fmt"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/route"
)

var errLongMessage = route.Refuse(fmt.Sprintf("ERR messages may have %d MiB; nothing was done", protocol.MaxMessage>>20))

// publishable says why a message cannot be published.
func publishable(args [][]byte) error {
	switch {
	case len(args[1]) > protocol.MaxName:
		return errLongName
	case len(args[2]) > protocol.MaxMessage:
		return errLongMessage
	}
	return nil
}

// publish plans PUBLISH or SPUBLISH, together with others that the client has sent. What came before them is executed first.
func (s *Session) publish(cmd *command.Command, args [][]byte) {
	if err := publishable(args); err != nil {
		s.refuse(cmd.Op, err)
		return
	}
	if !s.plan.publishing {
		s.finish()
	}
	s.plan.publishing = true
	first := s.plan.batch.Add(command.Request{Op: cmd.Op, Args: args}, true)
	s.plan.commands = append(s.plan.commands, planned{cmd: cmd, args: args, first: first, count: 1})
}

// published publishes what the scripts of an operation have published, which is done, and takes it out of the reply. Nobody is told if that cannot be done.
func (s *Session) published(op *route.Op) {
	messages, reply, ok := command.Published(op.Reply)
	if !ok {
		return
	}
	op.Reply = reply
	var batch route.Batch
	for _, m := range messages {
		batch.Add(m, true)
	}
	s.service.cluster.Execute(&batch)
}

// runPublish is PUBLISH or SPUBLISH in a transaction.
func runPublish(s *Session, dst []byte, args [][]byte) []byte {
	if err := publishable(args); err != nil {
		return route.AppendReply(dst, err)
	}
	op := s.execute(command.Request{Op: command.Lookup(args[0]).Op, Args: args}, true)
	return append(dst, op.Reply...)
}
