package script

import (
	"github.com/quolldb/quoll/internal/resp"
)

// Call executes a command of redis.call, or redis.pcall, and returns its complete reply, in RESP3 if the script has asked for that. An error is a reply, too. The
// list of arguments is used again after the call, the texts in it belong to the callee; the reply is read before the next call and not kept.
type Call func(args [][]byte, resp3 bool) (reply []byte)

// Limits bound a run. Zero is a default.
type Limits struct {
	Memory int64 // bytes that its values may take, about: 64 MiB
}

const (
	defaultMemory = 64 << 20
	maxDepth      = 4000
)

// Run is one run of a script: what it is given, and what it may use.
type Run struct {
	Keys, Args [][]byte
	RESP3      bool   // the protocol of the client
	SHA        string // how errors call the script
	Seed       uint64 // of math.random; that of Redis' scripts is 0, so that each run has the same numbers, and its functions go on where the last one was
	Call       Call
	// Log writes a line of redis.log, of a level from 0 to 3. It may be nil.
	Log func(level int, text string)
	// Allowed reports whether the client may execute a command, and whether there is such a command, for redis.acl_check_cmd. Nil allows all.
	Allowed func(args [][]byte) (known, allowed bool)
	// Interrupted is asked every so many instructions whether the script shall end. It may be nil.
	Interrupted func() bool
	Limits      Limits
}

// Run runs the script and appends its reply, which may be an error, to dst.
func (p *Program) Run(dst []byte, r *Run) []byte {
	m := take()
	dst = m.guard(dst, r, func(dst []byte) []byte {
		m.begin(r)
		m.give(r)
		m.state.Push(m.state.NewFunctionFromProto(p.proto))
		return m.finish(dst, m.state.PCall(0, 1, nil))
	})
	putBack(m)
	return dst
}

// guard keeps panics inside: what goes wrong in the interpreter is an error of the script, and its state is not used again.
func (m *machine) guard(dst []byte, r *Run, run func(dst []byte) []byte) (out []byte) {
	before := len(dst)
	defer func() {
		if p := recover(); p != nil {
			m.broken = true
			out = resp.AppendError(dst[:before], "ERR Error running script "+r.SHA+", execution failure")
		}
	}()
	return run(dst)
}

// finish appends the reply of a function that has returned, or raised err.
func (m *machine) finish(dst []byte, err error) []byte {
	if err != nil {
		return m.appendRaised(dst, err)
	}
	v := m.state.Get(-1)
	m.state.Pop(1)
	return m.appendReply(dst, v, 0)
}
