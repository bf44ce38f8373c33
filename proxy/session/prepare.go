package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

// prepare decides how a command is executed at EXEC, and copies its arguments. The error says why it cannot be queued.
func (s *Session) prepare(cmd *command.Command, database int, args [][]byte) (q queued, err error) {
	if c := containers[cmd.Op]; c != nil && len(args) > 1 {
		if _, err := c.find(args); err != nil {
			return q, err
		}
	}
	switch {
	case cmd.Route == command.RouteUnsupported:
		return q, unsupported(cmd.Name)
	case !cmd.ArityOK(len(args)): // MSET's pairs are not complete, which Redis finds when it is executed
		q.run = never(wrongArity(cmd.Name))
	case cmd.Op == command.OpClient && is(args[1], "CACHING"):
		return q, errCachingInside
	case cmd.Op == command.OpClient && is(args[1], "REPLY") && len(args) == 3 && !is(args[2], "ON"):
		return q, errReplyInside
	}
	named, problem := s.named(cmd, database, args)
	if problem == "" && !s.multi.authenticates { // else EXEC knows as whom it is executed
		problem = s.sortProblem(cmd, args)
	}
	if problem != "" { // as Redis finds it, when it is executed
		q.run = never(route.Refuse(problem))
	}
	q.cmd, q.args, q.database = cmd, copied(named), database
	if q.asked = q.args; len(args) != len(named) || len(args) > 0 && &args[0] != &named[0] {
		q.asked = copied(args)
	}
	if q.run == nil {
		q.execution()
	}
	return q, nil
}

// execution decides who executes a command: the proxy or, if it is on keys, the cluster.
func (q *queued) execution() {
	sub := q.cmd.Called(q.args)
	switch {
	case q.cmd.Route != command.RouteProxy && q.cmd.Route != command.RouteCluster:
		q.op = q.cmd.Sent()
	case sub == nil || !sub.OnKeys():
		q.run = handlers[q.cmd.Op]
	case q.cmd.Op == command.OpObject:
		q.op, q.args = command.OpObjectState, aboutObject(q.args)
	case q.cmd.Op == command.OpXGroup || q.cmd.Op == command.OpXInfo:
		q.op, q.args, _ = command.KeyFirst(q.cmd.Op, q.args)
	case q.cmd.Op == command.OpMemory:
		if err := checkUsage(q.args); err != nil {
			q.run = never(err)
			return
		}
		q.op, q.args, q.made = command.OpSizeState, sizeOf(q.args[2]), madeUsage
	default: // nothing else is on keys
		q.run = never(route.Refuse("ERR this command cannot be in a transaction; nothing was done"))
	}
}

// madeUsage makes the reply of MEMORY USAGE of the size of the value.
func madeUsage(dst, reply []byte, q *queued, resp3 bool) []byte {
	return appendUsage(dst, reply, q.args[1], resp3)
}

// containers are the commands with subcommands, which are looked up when they are queued.
var containers = [maxOps]*container{
	command.OpACL:      &aclCommand,
	command.OpClient:   &clientCommand,
	command.OpCommand:  &commandCommand,
	command.OpConfig:   &configCommand,
	command.OpFunction: &functionCommand,
	command.OpLatency:  &latencyCommand,
	command.OpMemory:   &memoryCommand,
	command.OpObject:   &objectCommand,
	command.OpXGroup:   &xgroupCommand,
	command.OpXInfo:    &xinfoCommand,
	command.OpPubSub:   &pubSubCommand,
	command.OpScript:   &scriptCommand,
	command.OpSlowlog:  &slowlogCommand,
	command.OpCluster:  &clusterCommand,
}
