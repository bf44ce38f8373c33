package script

import (
	"errors"

	lua "github.com/yuin/gopher-lua"
)

// maxCaught is how many pcalls may be inside of each other, as in Lua.
const maxCaught = 190

// protect calls the function that is on the stack with n arguments and returns the error that it has raised. A script that shall end is not caught.
func (m *machine) protect(L *lua.LState, n int) (v lua.LValue, failed bool) {
	if m.caught >= maxCaught {
		m.fail(L, "C stack overflow")
	}
	m.caught++
	caught, held, base := m.caught, m.held, L.GetTop()-n-1
	err := L.PCall(n, lua.MultRet, nil)
	m.caught, m.held = caught-1, held
	if err == nil {
		return nil, false
	}
	var raised *lua.ApiError
	if !errors.As(err, &raised) || raised.Type == lua.ApiErrorPanic || m.ended != "" {
		panic(err)
	}
	m.work(1024) // for finding out where it was raised
	L.SetTop(base)
	return m.reword(raised), true
}

// pcall gives the text of an error that is a table as Redis raises it.
func pcall(m *machine, L *lua.LState) int {
	if wrong := notCallable(L, 1); wrong != "" {
		if L.GetTop() == 0 {
			wrong = "attempt to call a boolean value" // Redis' pcall finds its own result there
		}
		L.Push(lua.LFalse)
		return 1 + push(L, lua.LString(wrong))
	}
	v, failed := m.protect(L, L.GetTop()-1)
	if failed {
		if t, ok := v.(*lua.LTable); ok {
			if text := L.GetField(t, "err"); text.Type() == lua.LTString || text.Type() == lua.LTNumber {
				v = text
			}
		}
		L.Push(lua.LFalse)
		L.Push(v)
		return 2
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
}

// xpcall calls the handler when the function has been left already: there is no debug library that would show the difference.
func xpcall(m *machine, L *lua.LState) int {
	m.any(L, 2)
	if wrong := notCallable(L, 1); wrong != "" {
		L.Push(m.function("xpcall", func(m *machine, L *lua.LState) int {
			m.raise(L, lua.LString(wrong))
			return 0
		}))
		L.Replace(1, L.Get(-1))
	}
	handler := L.Get(2)
	L.SetTop(1)
	v, failed := m.protect(L, 0)
	if failed {
		L.SetTop(0)
		L.Push(handler)
		L.Push(v)
		if _, failed := m.protect(L, 1); failed {
			L.Push(lua.LString("error in error handling"))
		}
		L.Insert(lua.LFalse, 1)
		return min(L.GetTop(), 2)
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
}

// notCallable is what a call of an argument would say if it is neither a function nor has a metatable that makes it one.
func notCallable(L *lua.LState, i int) (wrong string) {
	v := L.Get(i)
	if _, ok := v.(*lua.LFunction); ok || L.GetMetaField(v, "__call") != lua.LNil {
		return ""
	}
	return "attempt to call a " + v.Type().String() + " value"
}
