package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// openTextArithmetic has texts that are numbers calculated with as Lua does: gopher-lua takes 010 for eight.
func (m *machine) openTextArithmetic(meta *lua.LTable) {
	for event, f := range map[string]func(a, b float64) float64{
		"__add": func(a, b float64) float64 { return a + b },
		"__sub": func(a, b float64) float64 { return a - b },
		"__mul": func(a, b float64) float64 { return a * b },
		"__div": func(a, b float64) float64 { return a / b },
		"__mod": luaModulo,
		"__pow": math.Pow,
		"__unm": func(a, _ float64) float64 { return -a },
	} {
		meta.RawSetString(event, m.function(event, func(m *machine, L *lua.LState) int {
			return m.arithmetic(L, event, f)
		}))
	}
}

// arithmetic computes with two arguments, of which one is no number: by the metatable of one that is no text, or with texts as numbers.
func (m *machine) arithmetic(L *lua.LState, event string, f func(a, b float64) float64) int {
	left, right := L.Get(1), L.Get(2)
	if event == "__unm" {
		right = left
	}
	a, isNumber := asNumber(left)
	b, both := asNumber(right)
	if isNumber && both {
		return push(L, lua.LNumber(f(a, b)))
	}
	for _, v := range []lua.LValue{left, right} {
		if v.Type() == lua.LTString {
			continue
		}
		if by := L.GetMetaField(v, event); by != lua.LNil {
			L.Push(by)
			L.Push(left)
			L.Push(right)
			L.Call(2, 1)
			return 1
		}
	}
	if isNumber {
		left = right
	}
	m.fail(L, "attempt to perform arithmetic on a %s value", left.Type())
	return 0
}
