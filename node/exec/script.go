package exec

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/script"
)

// mostMissing is how many keys a script may use that it has not named: with more it is not run to its end.
const mostMissing = 10_000

// scriptRun is one run of a script as a part of a batch.
type scriptRun struct {
	exec     *Executor
	batch    *batch
	keys     *datatype.Keyspace
	command  *command.Request
	now      int64
	number   int    // of the database that commands are executed in: the client's, until SELECT
	readOnly bool   // it may not write
	dropped  string // why nothing of the batch may be done
	messages *messages
	calls    *command.CallList // takes what is called, and may be nil
	at       int               // which of the batch's commands this is
	crowded  bool              // there is no memory for more data; what grows may be called once something was written
	user     *acl.User         // whose script it is; nil if that may do everything
	denials  *command.DenialList

	request command.Request // of the call that is being executed
	reply   []byte          // of the last call
}

// append runs EVAL script numkeys key [key ...] arg [arg ...] and appends its reply. The script comes with the command, always: a node keeps none that it could miss.
func (r *scriptRun) append(dst []byte) []byte {
	args := r.command.Args
	n, problem := command.ScriptKeys(r.command)
	switch {
	case problem != "":
		return resp.AppendError(dst, problem)
	case r.command.Op == command.OpEvalSHA || r.command.Op == command.OpEvalSHARO: // the proxy has not found it
		return resp.AppendError(dst, command.ErrNoScript)
	}
	s, err := r.exec.scripts.get(args[1])
	if err != nil {
		return resp.AppendError(dst, err.Error())
	}
	if r.command.Op == command.OpEvalRO && s.program.Flags.Declared && !s.program.Flags.NoWrites {
		return resp.AppendError(dst, errReadOnlyCall)
	}
	r.readOnly = r.command.Op == command.OpEvalRO || s.program.Flags.NoWrites
	if s.program.Flags.Declared {
		if problem := r.admit(s.program.Flags.NoWrites || s.program.Flags.AllowOOM); problem != "" {
			return resp.AppendError(dst, problem)
		}
	}
	run := script.Run{Keys: r.clientsNames(args[3 : 3+n]), Args: args[3+n:], SHA: s.sha}
	return r.run(dst, &run, "", s.program.Run)
}

// errOutOfMemory is the error of a script, and of a command in one, when there is no memory for more data.
const errOutOfMemory = "OOM command not allowed when used memory > 'maxmemory'."

// admit says why a script that declares its flags, as all functions do, may not run for want of memory. One that may is not asked any more.
func (r *scriptRun) admit(allowed bool) (problem string) {
	if r.crowded && !allowed {
		return errOutOfMemory
	}
	r.crowded = false
	return ""
}

// run runs a script, or the function of this name, for a bounded time.
func (r *scriptRun) run(dst []byte, run *script.Run, function string, with func([]byte, *script.Run) []byte) []byte {
	r.keys.Guess()
	var killed *atomic.Bool
	ended := func() {}
	if r.batch.apart {
		one := r.running(function)
		killed, ended = &one.killed, r.exec.running.add(one)
		defer ended() // also if it panics, for what it reads cannot be read
	}
	late, start := r.batch.bound(run, killed), len(dst)
	run.RESP3, run.Call = r.command.RESP3, r.call
	if r.user != nil {
		run.Allowed = r.allowed
	}
	interrupted := run.Interrupted
	run.Interrupted = func() bool { return interrupted() || len(r.keys.Missing()) > mostMissing }
	dst = with(dst, run)
	ended()
	switch r.dropped = late(); {
	case r.dropped == errKilled:
		r.dropped = r.batch.whyKilled(dst[start:])
	case r.dropped == "" && killed != nil && killed.Load(): // it was ready before it noticed, but whoever has killed it was told that nothing is done
		r.dropped = script.Killed
	}
	return dst
}

// clientsNames returns keys as the client has named them, all in the database that it is in, which the script begins in.
func (r *scriptRun) clientsNames(names [][]byte) [][]byte {
	if r.number == 0 {
		return names
	}
	keys := make([][]byte, len(names))
	for i, name := range names {
		_, keys[i] = database.Split(name)
	}
	return keys
}

// call executes a command of a script.
func (r *scriptRun) call(args [][]byte, resp3 bool) []byte {
	cmd := command.Lookup(args[0])
	switch {
	case cmd == nil:
		return resp.AppendError(nil, "ERR Unknown Redis command called from script")
	case !cmd.ArityOK(len(args)):
		return resp.AppendError(nil, "ERR Wrong number of args calling Redis command from script")
	case cmd.Flags&command.FlagNoScript != 0, len(args) > 1 && notInScripts(cmd.Subcommand(args[1])):
		return resp.AppendError(nil, "ERR This Redis command is not allowed from script")
	}
	if r.user != nil {
		if problem := r.denied(cmd.Called(args), args); problem != "" {
			return resp.AppendError(nil, problem)
		}
	}
	switch {
	case cmd.Route == command.RouteUnsupported:
		return resp.AppendError(nil, "ERR '"+strings.ToUpper(cmd.Name)+"' is not supported yet by Quoll")
	case cmd.Route == command.RouteCluster && !cmd.ReadsAll():
		return resp.AppendError(nil, "ERR '"+strings.ToUpper(cmd.Name)+"' is of all slots, and Quoll executes scripts in one")
	case r.readOnly && (cmd.Writes() || writesCalled(cmd.Called(args))):
		return resp.AppendError(nil, "ERR Write commands are not allowed from read-only scripts.")
	case cmd.Route == command.RouteProxy && cmd.Op != command.OpObject && cmd.Op != command.OpXGroup && cmd.Op != command.OpXInfo:
		reply := r.local(cmd, args)
		if reply == nil {
			return resp.AppendError(nil, "ERR '"+strings.ToUpper(cmd.Name)+"' is of a connection, and cannot be in a script of Quoll")
		}
		r.show(cmd, args) // after a SELECT
		return reply
	}
	r.show(cmd, args)
	if read, ok := command.StreamReadOf(args); ok && cmd.Flags&command.FlagBlocking != 0 && read.Block() != nil {
		return resp.AppendError(nil, "ERR "+string(args[0])+" command is not allowed with BLOCK option from scripts")
	}
	if called := cmd.Called(args); called != nil {
		var problem string
		if args, problem = called.In(r.number, r.exec.host.View().Placements, args); problem != "" {
			return resp.AppendError(nil, problem)
		}
	}
	if flags := cmd.Flags; r.crowded && flags&command.FlagDenyOOM != 0 {
		return resp.AppendError(nil, errOutOfMemory)
	} else if flags&command.FlagWrite != 0 { // it is not to stop half way
		r.crowded = false
	}
	r.request = command.Request{Op: cmd.Sent(), RESP3: resp3, Args: args, Owned: true} // the keyspace may keep the texts
	if cmd.ReadsAll() {
		r.reply = r.exec.all(r.reply[:0], r.keys, &r.request, r.number)
		return r.reply
	}
	r.reply = r.keys.Execute(r.reply[:0], &r.request)
	return r.reply
}

// show keeps a call for those who monitor. As in Redis they do not see what is for administrators.
func (r *scriptRun) show(cmd *command.Command, args [][]byte) {
	if r.calls == nil {
		return
	}
	if called := cmd.Called(args); called != nil && called.Flags&(command.FlagSkipMonitor|command.FlagAdmin) == 0 {
		r.calls.Add(r.at, r.number, args)
	}
}

// writesCalled reports whether a subcommand, if there is one, writes.
func writesCalled(sub *command.Command) bool { return sub != nil && sub.Writes() }

// notInScripts reports whether a command has a subcommand that scripts may not call.
func notInScripts(sub *command.Command) bool {
	return sub != nil && sub.Flags&command.FlagNoScript != 0
}

// local answers commands that are on no key. It returns nil for what cannot be in a script.
func (r *scriptRun) local(cmd *command.Command, args [][]byte) []byte {
	switch cmd.Op {
	case command.OpPublish, command.OpSPublish:
		return r.publish(cmd, args)
	case command.OpPing:
		if len(args) == 2 {
			return resp.AppendBulk(nil, args[1])
		}
		return []byte("+PONG\r\n")
	case command.OpEcho:
		return resp.AppendBulk(nil, args[1])
	case command.OpTime:
		reply := resp.AppendArray(nil, 2)
		reply = resp.AppendBulk(reply, strconv.FormatInt(r.now/1000, 10))
		return resp.AppendBulk(reply, strconv.FormatInt(r.now%1000*1000, 10))
	case command.OpSelect:
		number, problem := command.Database(args[1])
		if problem != "" {
			return resp.AppendError(nil, problem)
		}
		r.number = number
		return []byte(resp.OK)
	}
	return nil
}

// log writes a line of redis.log.
func (e *Executor) log(level int, text string) {
	if log := e.opt.Logger; log != nil {
		levels := [...]slog.Level{slog.LevelDebug, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn}
		log.Log(context.Background(), levels[level], "a script says: "+text)
	}
}
