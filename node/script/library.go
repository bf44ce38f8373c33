package script

import (
	"errors"
	"strings"

	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/resp"
	lua "github.com/yuin/gopher-lua"
)

// functionChunk is what libraries are called in errors.
const functionChunk = "user_function"

// loadTimeout ends the code of a library that does not come to its end.
const loadTimeout = "FUNCTION LOAD timeout"

// Library is a library of functions that can be called, by several goroutines at once.
type Library struct {
	proto     *lua.FunctionProto
	functions []function.Function
}

// CompileLibrary reads the code of a library, and runs it once to find out what it registers. Of the run it takes Log, Interrupted and Limits. An error is a reply of FUNCTION LOAD
// without its "-".
func CompileLibrary(code []byte, r *Run) (*Library, error) {
	_, body, problem := function.Metadata(code)
	if problem != "" {
		return nil, errors.New(problem)
	}
	proto, err := compile(body, functionChunk)
	if err != nil {
		return nil, errors.New("ERR Error compiling function: " + err.Error())
	}
	l := &Library{proto: proto}
	m := take()
	reply := m.guard(nil, r, func([]byte) []byte {
		m.begin(r)
		if err = m.loadLibrary(proto); err == nil {
			l.functions = m.described
		}
		return nil
	})
	putBack(m)
	switch {
	case reply != nil:
		return nil, errors.New(strings.TrimSuffix(string(reply[1:]), "\r\n"))
	case err != nil:
		return nil, err
	case len(l.functions) == 0:
		return nil, errors.New("ERR No functions registered")
	}
	return l, nil
}

// Functions returns what the library registers, in the order in which it does so. It is shared, and must not be changed.
func (l *Library) Functions() []function.Function { return l.functions }

// Function returns a function of the library, nil if it has none of that name.
func (l *Library) Function(name string) *function.Function {
	for i := range l.functions {
		if l.functions[i].Name == name {
			return &l.functions[i]
		}
	}
	return nil
}

// Call calls the function that errors call r.SHA, which is its name, and appends its reply, which may be an error, to dst. The code of the library is run before it, each time: nothing of a
// call is there in the next one.
func (l *Library) Call(dst []byte, r *Run) []byte {
	m := take()
	dst = m.guard(dst, r, func(dst []byte) []byte {
		m.begin(r)
		if err := m.loadLibrary(l.proto); err != nil {
			return resp.AppendError(dst, err.Error())
		}
		f := m.registered[r.SHA]
		if f == nil {
			return resp.AppendError(dst, "ERR Function not found")
		}
		m.state.Push(f)
		m.state.Push(m.list(r.Keys))
		m.state.Push(m.list(r.Args))
		return m.finish(dst, m.state.PCall(2, 1, nil))
	})
	putBack(m)
	return dst
}

// library is what a machine has for functions: they see other globals than scripts do, and their library's code, when it is run to register them, still others. Both find them by the
// same table, which is empty, and whose metatable says where they are.
type library struct {
	functions  *lua.LTable // which they see as the globals
	meta       *lua.LTable
	whenLoaded *lua.LTable
	whenCalled *lua.LTable

	loading    *lua.LState // that runs the code of a library
	registered map[string]*lua.LFunction
	described  []function.Function
}

// openLibrary makes them, of the globals of scripts.
func (m *machine) openLibrary() {
	scripts := m.globals.RawGetString("redis").(*lua.LTable)
	redis, register := m.state.CreateTable(0, 32), m.state.CreateTable(0, 16)
	scripts.ForEach(func(key, v lua.LValue) {
		name := key.String()
		switch name {
		case "breakpoint", "debug", "replicate_commands":
			return
		}
		redis.RawSetString(name, v)
		if name == "log" || strings.HasPrefix(name, "LOG_") || strings.HasPrefix(name, "REDIS_") {
			register.RawSetString(name, v)
		}
	})
	register.RawSetString("register_function", m.function("register_function", registerFunction))
	strict := m.globals.Metatable
	register.Metatable = strict

	m.functions, m.meta = m.state.CreateTable(0, 16), m.state.CreateTable(0, 1)
	m.whenLoaded, m.whenCalled = m.state.CreateTable(0, 1), m.state.CreateTable(0, 64)
	m.globals.ForEach(func(key, v lua.LValue) {
		switch name := key.String(); {
		case strings.HasPrefix(name, "\x00"): // what rewritten code calls
			m.functions.RawSetString(name, v)
		case name != "__redis__err__handler":
			m.whenCalled.RawSetString(name, v)
		}
	})
	m.whenLoaded.RawSetString("redis", register)
	m.whenCalled.RawSetString("redis", redis)
	m.whenCalled.RawSetString("_G", m.whenCalled)
	m.functions.Metatable, m.whenLoaded.Metatable, m.whenCalled.Metatable = m.meta, strict, strict
	for _, t := range []*lua.LTable{m.functions, m.whenLoaded, m.whenCalled} {
		m.lock(t)
	}
}

// end forgets a library.
func (l *library) end() { l.loading, l.registered, l.described = nil, nil, nil }

// loadLibrary runs the code of a library, which registers its functions. An error is a reply.
func (m *machine) loadLibrary(proto *lua.FunctionProto) error {
	m.environment, m.loading, m.registered, m.described = m.functions, m.state, make(map[string]*lua.LFunction), nil
	m.meta.RawSetString("__index", m.whenLoaded)
	f := m.state.NewFunctionFromProto(proto)
	f.Env = m.functions
	m.state.Push(f)
	err := m.state.PCall(0, 0, nil)
	m.loading = nil
	m.meta.RawSetString("__index", m.whenCalled)
	if err == nil {
		return nil
	}
	return errors.New("ERR Error registering functions: " + oneLine(m.raisedText(err)))
}
