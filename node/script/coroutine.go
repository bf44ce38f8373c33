package script

import (
	"errors"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (m *machine) openCoroutine() {
	m.open("coroutine", map[string]builtin{
		"create": func(m *machine, L *lua.LState) int { return push(L, m.thread(L, m.callable(L, 1))) },
		"resume": func(m *machine, L *lua.LState) int {
			values, failed := m.resume(L, m.threadOf(L, 1), arguments(L, 2))
			L.Push(lua.LBool(!failed))
			return 1 + pushAll(L, values)
		},
		"running": func(_ *machine, L *lua.LState) int {
			if L.G.CurrentThread == L.G.MainThread {
				return 0
			}
			return push(L, L.G.CurrentThread)
		},
		"status": func(m *machine, L *lua.LState) int { return push(L, lua.LString(status(L, m.threadOf(L, 1)))) },
		"wrap":   coroutineWrap,
		"yield": func(m *machine, L *lua.LState) int {
			if L.G.CurrentThread == L.G.MainThread || L.Parent == nil {
				m.fail(L, "attempt to yield across metamethod/C-call boundary")
			}
			return L.Yield(arguments(L, 1)...)
		},
	})
}

// arguments are the ones from i on.
func arguments(L *lua.LState, i int) (values []lua.LValue) {
	for ; i <= L.GetTop(); i++ {
		values = append(values, L.Get(i))
	}
	return values
}

func pushAll(L *lua.LState, values []lua.LValue) int {
	for _, v := range values {
		L.Push(v)
	}
	return len(values)
}

// thread makes a thread that is at the beginning of f.
func (m *machine) thread(L *lua.LState, f *lua.LFunction) *lua.LState {
	m.charge(threadSize)
	th, _ := L.NewThread()
	th.SetContext(m) // which ends it as any other part of the script
	if m.beginnings == nil {
		m.beginnings = make(map[*lua.LState]*lua.LFunction)
	}
	m.beginnings[th] = f
	return th
}

func (m *machine) threadOf(L *lua.LState, i int) *lua.LState {
	th, ok := L.Get(i).(*lua.LState)
	if !ok {
		m.argument(L, i, "coroutine expected")
	}
	return th
}

func status(L *lua.LState, th *lua.LState) string {
	switch {
	case th.Dead:
		return "dead"
	case L.G.CurrentThread == th:
		return "running"
	case th == L.G.MainThread, th.Parent != nil:
		return "normal"
	}
	return "suspended"
}

// resume goes on with a thread until it yields, returns, or raises an error, which is the value then.
func (m *machine) resume(L *lua.LState, th *lua.LState, args []lua.LValue) (values []lua.LValue, failed bool) {
	if is := status(L, th); is != "suspended" {
		return []lua.LValue{lua.LString("cannot resume " + map[string]string{"dead": "dead", "running": "running", "normal": "non-suspended"}[is] + " coroutine")}, true
	}
	if m.caught >= maxCaught {
		m.fail(L, "C stack overflow")
	}
	m.caught++
	caught, held := m.caught, m.held
	f := m.beginnings[th]
	delete(m.beginnings, th)
	state, err, values := L.Resume(th, f, args...)
	m.caught, m.held = caught-1, held
	if m.ended != "" {
		m.stop(m.ended)
	}
	if state != lua.ResumeError {
		if len(values) == 1 && values[0] == lua.LNil && th.Dead {
			values = nil // gopher-lua has a nil for no values
		}
		return values, false
	}
	v := lua.LNil
	var raised *lua.ApiError
	if errors.As(err, &raised) {
		v = m.reword(raised)
	}
	if text := v.String(); strings.HasPrefix(text, "runtime error: ") || text == overflow {
		panic(text)
	}
	return []lua.LValue{v}, true
}

func coroutineWrap(m *machine, L *lua.LState) int {
	th := m.thread(L, m.callable(L, 1))
	return push(L, m.function("wrap", func(m *machine, L *lua.LState) int {
		values, failed := m.resume(L, th, arguments(L, 1))
		if failed {
			v := values[0]
			if text, ok := asText(v); ok {
				v = lua.LString(where(L, 1) + text)
			}
			m.raise(L, v)
		}
		return pushAll(L, values)
	}))
}
