package exec

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/script"
)

// errReadOnlyCall is the error of FCALL_RO and EVAL_RO for what says that it may write.
const errReadOnlyCall = "ERR Can not execute a script with write flag using *_ro command."

// appendCall runs CALL code numkeys key [key ...] arg [arg ...] function and appends its reply. The code of the function's library comes with the command, as scripts do; a proxy that has
// found none sends FCALL as its client did.
func (r *scriptRun) appendCall(dst []byte) []byte {
	args, op := r.command.Args, r.command.Op
	if op == command.OpFCall || op == command.OpFCallRO {
		return resp.AppendError(dst, command.ErrNoFunction)
	}
	name := string(args[len(args)-1])
	n, problem := command.CallKeys(args[2], len(args)-4)
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	l, late, err := r.batch.library(args[1])
	if r.dropped = late; err != nil {
		return resp.AppendError(dst, err.Error())
	}
	f := l.Function(name)
	if f == nil {
		return resp.AppendError(dst, command.ErrNoFunction)
	}
	noWrites := f.Flags&function.NoWrites != 0
	r.readOnly = op == command.OpCallRO || noWrites
	if op == command.OpCallRO && !noWrites {
		return resp.AppendError(dst, errReadOnlyCall)
	}
	if problem := r.admit(noWrites || f.Flags&function.AllowOOM != 0); problem != "" {
		return resp.AppendError(dst, problem)
	}
	var drawn command.Request
	r.exec.host.Lend(&drawn)
	run := script.Run{Keys: r.clientsNames(args[3 : 3+n]), Args: args[3+n : len(args)-1], SHA: name, Seed: drawn.Random}
	return r.run(dst, &run, name, l.Call)
}

// library returns a library, compiled. An error is the reply that says what is wrong with it, and late why that took too long, if it did. The code is borrowed.
func (b *batch) library(code []byte) (l *script.Library, late string, err error) {
	libraries := &b.exec.libraries
	if l := libraries.find(code); l != nil {
		return l, "", nil
	}
	var run script.Run
	over := b.bound(&run, nil)
	if l, err = script.CompileLibrary(code, &run); err != nil {
		if late = over(); late != errStepTime {
			late = "" // the error says so, as Redis' does
		}
		return nil, late, err
	}
	libraries.keep(code, l)
	return l, "", nil
}

// describe appends the reply to FUNCTION LOAD code: what the library registers, as package function describes it, or what is wrong with it. The proxy keeps it.
func (b *batch) describe(dst []byte, req *command.Request) (reply []byte, late string) {
	if len(req.Args) != 3 {
		return resp.AppendError(dst, errCommand.Error()), ""
	}
	l, late, err := b.library(req.Args[2])
	if err != nil {
		return resp.AppendError(dst, err.Error()), late
	}
	return resp.AppendBulk(dst, function.AppendDescription(nil, l.Functions())), ""
}
