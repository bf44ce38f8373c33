package script

import (
	lua "github.com/yuin/gopher-lua"
)

// argument raises what luaL_argerror does. Of a function that was called as a method the first argument is not counted; which calls are methods' is not known.
func (m *machine) argument(L *lua.LState, i int, text string) {
	name := m.name
	if where(L, 1) == "" { // called by another function of a library, which knows no names
		name = "?"
	}
	m.fail(L, "bad argument #%d to '%s' (%s)", i, name, text)
}

func typeName(L *lua.LState, i int) string {
	if i > L.GetTop() {
		return "no value"
	}
	return L.Get(i).Type().String()
}

func (m *machine) wrongType(L *lua.LState, i int, want string) {
	m.argument(L, i, want+" expected, got "+typeName(L, i))
}

// text is an argument that is a text, or a number as one.
func (m *machine) text(L *lua.LState, i int) string {
	s, ok := asText(L.Get(i))
	if !ok {
		m.wrongType(L, i, "string")
	}
	return s
}

func (m *machine) optionalText(L *lua.LState, i int, otherwise string) string {
	if L.Get(i) == lua.LNil {
		return otherwise
	}
	return m.text(L, i)
}

func (m *machine) number(L *lua.LState, i int) float64 {
	f, ok := asNumber(L.Get(i))
	if !ok {
		m.wrongType(L, i, "number")
	}
	return f
}

func (m *machine) integer(L *lua.LState, i int) int { return int(toInteger(m.number(L, i))) }

func (m *machine) optionalInteger(L *lua.LState, i, otherwise int) int {
	if L.Get(i) == lua.LNil {
		return otherwise
	}
	return m.integer(L, i)
}

func (m *machine) table(L *lua.LState, i int) *lua.LTable {
	t, ok := L.Get(i).(*lua.LTable)
	if !ok {
		m.wrongType(L, i, "table")
	}
	return t
}

func (m *machine) callable(L *lua.LState, i int) *lua.LFunction {
	f, ok := L.Get(i).(*lua.LFunction)
	if !ok {
		m.wrongType(L, i, "function")
	}
	return f
}

func (m *machine) any(L *lua.LState, i int) lua.LValue {
	if i > L.GetTop() {
		m.argument(L, i, "value expected")
	}
	return L.Get(i)
}
