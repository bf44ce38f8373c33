package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

// readStreams plans XREAD: each of its keys is read by itself, all at one moment if they are in one slot. What is wrong with its arguments is for a node to say.
func (s *Session) readStreams(cmd *command.Command, args [][]byte) {
	r, ok := command.StreamReadOf(args)
	if !ok {
		s.plan.together(cmd, args, anywhere(cmd.Name), s.resp3)
		return
	}
	reads := make([]command.Request, len(r.Keys()))
	for i := range reads {
		reads[i] = command.Request{Op: command.OpXReadKey, RESP3: s.resp3, Args: r.One(i)}
	}
	s.plan.reads(cmd, args, reads)
}

// streamsRead returns the reply of an XREAD whose keys have been read.
func (s *Session) streamsRead(ops []route.Op) []byte {
	replies := make([][]byte, len(ops))
	for i := range ops {
		replies[i] = ops[i].Reply
	}
	reply := command.AppendStreamsRead(s.scratch[:0], replies, ops[0].Req.RESP3)
	if cap(reply) <= maxScratch {
		s.scratch = reply
	}
	return reply
}

// readGroupAlone plans XREADGROUP of one key. It reports false if it is named several times.
func (s *Session) readGroupAlone(cmd *command.Command, args, keys [][]byte) bool {
	r, ok := command.StreamReadOf(args)
	if !ok || len(keys) > 1 {
		return false
	}
	op, one := len(s.plan.batch.Ops), r.One(0)
	s.plan.part(command.OpXReadGroupKey, one[0], one[1:], true, s.resp3)
	s.plan.commands = append(s.plan.commands, planned{cmd: cmd, args: args, first: op, count: 1})
	return true
}

// xgroupCommand is XGROUP, and xinfoCommand XINFO. The nodes execute what is on a key: see node/datatype/stream_group.go and stream_info.go.
var xgroupCommand = container{"XGROUP", []subcommand{
	{"CREATE", -5, onStream, []string{"CREATE <key> <groupname> <id|$> [option]", "Create a new consumer group. Options are:", "* MKSTREAM", "  Create the empty stream if it does not exist.",
		"* ENTRIESREAD entries_read", "  Set the group's entries_read counter (internal use)."}},
	{"CREATECONSUMER", 5, onStream, []string{"CREATECONSUMER <key> <groupname> <consumer>", "Create a new consumer in the specified group."}},
	{"DELCONSUMER", 5, onStream, []string{"DELCONSUMER <key> <groupname> <consumer>", "Remove the specified consumer."}},
	{"DESTROY", 4, onStream, []string{"DESTROY <key> <groupname>", "Remove the specified group."}},
	{"SETID", -5, onStream, []string{"SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]", "Set the current group ID and entries_read counter."}},
}}

var xinfoCommand = container{"XINFO", []subcommand{
	{"CONSUMERS", 4, onStream, []string{"CONSUMERS <key> <groupname>", "Show consumers of <groupname>."}},
	{"GROUPS", 3, onStream, []string{"GROUPS <key>", "Show the stream consumer groups."}},
	{"STREAM", -3, onStream, []string{"STREAM <key> [FULL [COUNT <count>]", "Show information about the stream."}},
}}

// onStream is a subcommand that is on a key.
func onStream(s *Session, dst []byte, args [][]byte) []byte {
	cmd := command.Lookup(args[0])
	op, first, _ := command.KeyFirst(cmd.Op, args) // there is a key, by the arity
	said := s.execute(command.Request{Op: op, RESP3: s.resp3, Args: first}, command.ByOp(op).Writes())
	return append(dst, said.Reply...)
}
