package script

import (
	"context"
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// machine is a Lua state with everything that scripts find in it, and the run that it is at.
type machine struct {
	context.Context // as which the state asks it, before each instruction, whether to go on
	state           *lua.LState
	globals         *lua.LTable
	readonly        map[*lua.LTable]struct{}

	environment *lua.LTable // of the code that runs: the globals, or functions'
	library

	run    *Run
	resp3  bool   // redis.setresp
	name   string // of the function of a library that was called last, for its errors
	broken bool   // the interpreter failed: the state is not used again
	caught int    // pcalls inside of each other
	random lrand48
	budget
	jsonOptions

	next, nextIndex *lua.LFunction                 // what pairs and ipairs return
	beginnings      map[*lua.LState]*lua.LFunction // of threads that have not begun
	null            *lua.LUserData                 // cjson.null
	args            [][]byte                       // of redis.call
	replies         replyReader                    // of its reply
}

// states are machines that are not at work.
var states = sync.Pool{New: func() any { return newMachine() }}

func take() *machine { return states.Get().(*machine) }

// putBack ends the run of a machine and keeps it for another one, unless it has stopped anywhere.
func putBack(m *machine) {
	if !m.broken && m.ended == "" {
		m.end()
		states.Put(m)
	}
}

// limitArrays tells gopher-lua which numbers are keys like any other.
var limitArrays = sync.OnceFunc(func() { lua.MaxArrayIndex = maxIndex })

func newMachine() *machine {
	limitArrays()
	m := &machine{Context: context.Background(), readonly: make(map[*lua.LTable]struct{})}
	m.state = lua.NewState(lua.Options{
		SkipOpenLibs: true, CallStackSize: maxDepth, MinimizeStackMemory: true,
		RegistrySize: 1024, RegistryMaxSize: 512 << 10, RegistryGrowStep: 16 << 10,
	})
	m.state.SetContext(m)
	m.globals = m.state.G.Global
	m.openOperators()
	m.openBase()
	m.openString()
	m.openTable()
	m.openMath()
	m.openRedis()
	m.openCoroutine()
	m.openBit()
	m.openStruct()
	m.openJSON()
	m.openMessagePack()
	m.openLibrary()
	m.lock(m.globals)
	return m
}

// begin prepares for a run.
func (m *machine) begin(r *Run) {
	m.run, m.resp3, m.caught = r, false, 0
	m.random.seed(int32(r.Seed))
	m.budget.begin(r)
	m.jsonOptions = defaultJSON
	m.environment = m.globals
}

// give gives a script its keys and arguments.
func (m *machine) give(r *Run) {
	m.globals.RawSetString("KEYS", m.list(r.Keys))
	m.globals.RawSetString("ARGV", m.list(r.Args))
}

// end forgets a run.
func (m *machine) end() {
	m.state.SetTop(0)
	m.globals.RawSetString("KEYS", lua.LNil)
	m.globals.RawSetString("ARGV", lua.LNil)
	m.run = nil
	m.library.end()
	m.budget = budget{}
	clear(m.beginnings)
	clear(m.args[:cap(m.args)])
}

func (m *machine) list(values [][]byte) *lua.LTable {
	t := m.state.CreateTable(len(values), 0)
	for _, v := range values {
		m.charge(stringSize + len(v))
		t.Append(lua.LString(v))
	}
	return t
}

// builtin is a function that scripts find: it finds its arguments in L and returns how many results it pushed.
type builtin = func(m *machine, L *lua.LState) int

func (m *machine) function(name string, f builtin) *lua.LFunction {
	return m.state.NewFunction(func(L *lua.LState) int {
		held := m.held
		m.name = name
		n := f(m, L)
		m.held = held
		return n
	})
}

// open makes a library of functions and gives it a name, unless that is "": then they are global.
func (m *machine) open(name string, functions map[string]builtin) *lua.LTable {
	t := m.globals
	if name != "" {
		t = m.state.CreateTable(0, len(functions))
		m.globals.RawSetString(name, t)
	}
	for key, f := range functions {
		t.RawSetString(key, m.function(key, f))
	}
	return t
}

// lock makes a table, and all tables in it, their metatables too, read-only.
func (m *machine) lock(t *lua.LTable) {
	if m.isReadonly(t) {
		return
	}
	m.readonly[t] = struct{}{}
	t.ForEach(func(_, v lua.LValue) {
		if inner, ok := v.(*lua.LTable); ok {
			m.lock(inner)
		}
	})
	if meta, ok := t.Metatable.(*lua.LTable); ok {
		m.lock(meta)
	}
}

func (m *machine) isReadonly(t *lua.LTable) bool {
	_, ok := m.readonly[t]
	return ok
}
