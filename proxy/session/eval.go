package session

import (
	"bytes"
	"errors"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/proxy/route"
)

// Nodes keep no scripts: the proxy sends each with its command. A script may use keys that it has not named, as in a Redis that is no cluster. The node finds out which when it runs
// it, does nothing, and says so (command.MissingKeys). Then the proxy sends the script again, together with these keys. So it is with
// keys that SORT looks up.

// scriptRounds is how often a script is sent again with more keys.
const scriptRounds = 64

var (
	errScriptSlots  = route.Refuse("CROSSSLOT a script, or SORT by BY or GET, used keys that are not in one slot; nothing was done. Give them one hash tag, as in {user:1}:name, or use a database that is placed together")
	errScriptRounds = route.Refuse("ERR a script used other keys each time it was run, or SORT looked up others, for too many times; nothing was done. Name a script's keys in numkeys")
)

// isScript reports whether a command runs a script, or a function.
func isScript(op command.Op) bool {
	return command.OpEval <= op && op <= command.OpEvalSHARO || isCall(op)
}

// isCall reports whether a command calls a function.
func isCall(op command.Op) bool { return op == command.OpFCall || op == command.OpFCallRO }

// eval executes EVAL, EVALSHA, EVAL_RO and EVALSHA_RO. A script that is known, and names its keys, is planned as other commands are; any other is executed at once.
func (s *Session) eval(cmd *command.Command, args [][]byte) {
	if _, problem := command.ScriptKeys(&command.Request{Op: cmd.Op, Args: args}); problem != "" {
		s.refuse(cmd.Op, route.Refuse(problem))
		return
	}
	keys, _ := cmd.AllKeys(args)
	if len(keys) > 0 && !sameSlot(keys) {
		s.refuse(cmd.Op, errCrossSlot)
		return
	}
	sha := scriptName(cmd.Op, args)
	planned := len(keys) > 0 && s.service.scripts.named(sha) && !s.shown
	if !planned {
		s.finish()
	}
	sent, err := s.scriptOf(cmd.Op, args, sha)
	if err != nil {
		s.refuse(cmd.Op, err)
		return
	}
	sent.Database = uint8(s.database)
	if len(keys) == 0 {
		keys = [][]byte{anywhere(sha)}
	}
	s.sendScript(cmd, args, sent, keys[0])
	if !planned {
		s.finish()
	}
}

// anywhere returns a key for what names none, so that it is executed in some slot. It is Quoll's own: keys of clients are only used as their database is placed.
func anywhere(name string) []byte { return []byte(database.Prefix + "anywhere:" + name) }

// evalFits reports whether a script can be executed together with other commands: it is known, as far as can be said without asking, and names the keys that it uses.
func (s *Session) evalFits(cmd *command.Command, args [][]byte) bool {
	keys, ok := cmd.AllKeys(args)
	if isCall(cmd.Op) {
		_, planned := s.service.functions.fresh(args[1])
		return ok && len(keys) > 0 && planned
	}
	return ok && len(keys) > 0 && s.service.scripts.named(scriptName(cmd.Op, args))
}

// scriptName returns the name of the script that a command brings along, or names.
func scriptName(op command.Op, args [][]byte) string {
	if op == command.OpEval || op == command.OpEvalRO {
		return shaOf(args[1])
	}
	return string(bytes.ToLower(args[1]))
}

// scriptOf returns what is sent to a node: the command with the script of that name itself. The error is a reply: there is no such script, or it cannot be compiled.
func (s *Session) scriptOf(op command.Op, args [][]byte, sha string) (sent command.Request, err error) {
	sent = command.Request{Op: op, Args: args, RESP3: s.resp3}
	switch op {
	case command.OpEvalSHA:
		sent.Op = command.OpEval
	case command.OpEvalSHARO:
		sent.Op = command.OpEvalRO
	default:
		return sent, s.load(sha, args[1])
	}
	body, err := s.script(sha)
	if err != nil {
		return sent, err
	}
	sent.Args = append([][]byte{args[0], body}, args[2:]...)
	return sent, nil
}

// keepScript keeps the script that a command of a transaction has brought along, which has been executed. As in Redis, one that names its keys wrongly was not looked at.
func (s *Session) keepScript(q *queued) {
	if q.op != command.OpEval && q.op != command.OpEvalRO {
		return
	}
	if _, problem := command.ScriptKeys(&command.Request{Op: q.op, Args: q.args}); problem == "" {
		_ = s.load(shaOf(q.args[1]), q.args[1]) // EVAL has said what is wrong with it; one that is not kept is sent again by whoever needs it
	}
}

// sendScript plans a command that runs a script, in the form in which a node executes it, as an operation on its keys, of which one is given.
func (s *Session) sendScript(cmd *command.Command, args [][]byte, sent command.Request, key []byte) {
	s.plan.sendBatch(cmd, args, &command.Batch{Commands: []command.Request{sent}, Shown: s.shown, Rules: s.scriptRules()}, key, s.resp3)
}

// again sends an operation as often as scripts of it turn out to use other keys. It returns what they have called, if that is shown. These are views of what the node has replied.
func (s *Session) again(op *route.Op) (calls []command.Call) {
	for round := 0; ; round++ {
		missing, ok := command.MissingKeys(op.Reply)
		if !ok {
			var denials []command.Denial
			denials, op.Reply = command.Denials(op.Reply)
			s.logScript(denials)
			calls, op.Reply = command.Calls(op.Reply)
			s.published(op)
			return calls
		}
		next, err := s.withKeys(&op.Req, missing)
		if err == nil && round == scriptRounds {
			err = errScriptRounds
		}
		if err != nil {
			op.Outcome, op.Reply = answer.NotDone, route.AppendReply(nil, err)
			return nil
		}
		*op = s.execute(next, op.Write)
	}
}

// withKeys returns a batch with more keys, which have to be in one slot with those that it has.
func (s *Session) withKeys(req *command.Request, keys [][]byte) (next command.Request, err error) {
	b, err := command.ParseBatch(req)
	if err != nil {
		return next, err
	}
	b.Also = append(b.Also[:len(b.Also):len(b.Also)], keys...)
	if err := s.listAll(b, keys); err != nil {
		return next, err
	}
	all, _ := b.Keys(keys[0])
	if !sameSlot(all) {
		if err := errSlots(all); errors.Is(err, errDatabases) {
			return next, err
		}
		return next, errScriptSlots
	}
	for i := range b.Commands {
		switch c := &b.Commands[i]; c.Op {
		case command.OpEval, command.OpEvalRO:
			s.service.scripts.guessed(c.Args[1])
		case command.OpCall, command.OpCallRO:
			s.service.functions.guessed(c.Args[len(c.Args)-1])
		}
	}
	return b.Request(keys[0], req.RESP3), nil
}
