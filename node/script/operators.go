package script

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openOperators opens what rewritten scripts call.
func (m *machine) openOperators() {
	m.open("", map[string]builtin{
		nameSet: func(m *machine, L *lua.LState) int {
			m.set(L, L.Get(1), L.Get(2), L.Get(3))
			return 0
		},
		nameGlobal: func(m *machine, L *lua.LState) int {
			m.set(L, m.globals, L.Get(1), L.Get(2))
			return 0
		},
		nameConcat:   concat,
		nameFill:     fill,
		nameSeveral:  several,
		nameModulo:   modulo,
		nameForStart: forBound("initial value"),
		nameForLimit: forBound("limit"),
		nameForStep:  forBound("step"),
	})
}

// maxChain is how many tables an index goes through by __index or __newindex.
const maxChain = 100

// set is object[key] = value.
func (m *machine) set(L *lua.LState, object, key, value lua.LValue) {
	for range maxChain {
		t, isTable := object.(*lua.LTable)
		if isTable {
			if m.isReadonly(t) {
				m.fail(L, "Attempt to modify a readonly table")
			}
			if t.Metatable == lua.LNil || t.RawGet(key) != lua.LNil {
				m.rawset(L, t, key, value)
				return
			}
		}
		next := L.GetMetaField(object, "__newindex")
		switch {
		case next == lua.LNil && isTable:
			m.rawset(L, t, key, value)
			return
		case next == lua.LNil:
			m.fail(L, "attempt to index a %s value", object.Type())
		}
		if f, ok := next.(*lua.LFunction); ok {
			L.Push(f)
			L.Push(object)
			L.Push(key)
			L.Push(value)
			L.Call(3, 0)
			return
		}
		object = next
	}
	m.fail(L, "loop in settable")
}

// rawset is t[key] = value without metamethods. A number far behind the last element does not become one: gopher-lua would fill the room between them.
func (m *machine) rawset(L *lua.LState, t *lua.LTable, key, value lua.LValue) {
	switch k := key.(type) {
	case *lua.LNilType:
		m.fail(L, "table index is nil")
	case lua.LNumber:
		if math.IsNaN(float64(k)) {
			m.fail(L, "table index is NaN")
		}
		m.setNumber(t, k, value)
	case lua.LString:
		if value != lua.LNil && t.RawGetString(string(k)) == lua.LNil {
			m.charge(keySize)
		}
		t.RawSetString(string(k), value)
	default:
		if value != lua.LNil && t.RawGetH(k) == lua.LNil {
			m.charge(keySize)
		}
		t.RawSetH(k, value)
	}
}

// maxIndex is the first index that is not an element of a table's array but a key like any other. gopher-lua fills the room before an element, so that a table
// that has numbers of users as keys takes 16 MB at most.
const maxIndex = 1 << 20

// setNumber is t[k] = value. An array that reaches maxIndex is refused, for gopher-lua would not find its end any more.
func (m *machine) setNumber(t *lua.LTable, k lua.LNumber, value lua.LValue) {
	index := int(k)
	switch {
	case lua.LNumber(index) != k || index < 1 || index > maxIndex:
		if value != lua.LNil && t.RawGetH(k) == lua.LNil {
			m.charge(keySize)
		}
		t.RawSetH(k, value)
		return
	case index == maxIndex:
		if t.RawGetInt(index-1) != lua.LNil {
			m.stop(noMemory)
		}
		t.RawSetH(k, value)
		return
	}
	switch end := arrayLength(t); {
	case index > end && value == lua.LNil:
		return
	case index > end:
		m.charge((index - end) * entrySize)
		m.work((index - end) >> 6)
	case index == end && value == lua.LNil: // an array ends in a value, so that its length is known at once
		for end > 0 && (end == index || t.RawGetInt(end) == lua.LNil) {
			t.Remove(end)
			end--
		}
		return
	}
	t.RawSetInt(index, value)
}

// concat is a .. b .. c, from the right.
func concat(m *machine, L *lua.LState) int {
	n := L.GetTop()
	v := L.Get(n)
	for i := n - 1; i >= 1; {
		from := i // the first of a series of texts that ends with v
		length := 0
		if last, ok := asText(v); ok {
			length = len(last)
			for from = i; from >= 1; from-- {
				text, ok := asText(L.Get(from))
				if !ok {
					break
				}
				length += len(text)
			}
		}
		if from == i { // the left one, or v, is no text
			v = m.concatOther(L, L.Get(i), v)
			i--
			continue
		}
		m.charge(stringSize + length)
		m.work(length >> 10)
		var joined strings.Builder
		joined.Grow(length)
		for j := from + 1; j <= i; j++ {
			text, _ := asText(L.Get(j))
			joined.WriteString(text)
		}
		last, _ := asText(v)
		joined.WriteString(last)
		v, i = lua.LString(joined.String()), from
	}
	L.Push(v)
	return 1
}

// concatOther is a .. b of values of which one is no text.
func (m *machine) concatOther(L *lua.LState, a, b lua.LValue) lua.LValue {
	f := L.GetMetaField(a, "__concat")
	if f == lua.LNil {
		f = L.GetMetaField(b, "__concat")
	}
	if f == lua.LNil {
		if _, ok := asText(a); ok {
			a = b
		}
		m.fail(L, "attempt to concatenate a %s value", a.Type())
	}
	L.Push(f)
	L.Push(a)
	L.Push(b)
	L.Call(2, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// fill is what a constructor does with keys that are not names.
func fill(m *machine, L *lua.LState) int {
	t, later := L.Get(1).(*lua.LTable), L.Get(2).(*lua.LTable)
	m.charge(arrayLength(later) * entrySize)
	for i := 1; i < arrayLength(later); i += 2 {
		key, value := later.RawGetInt(i), later.RawGetInt(i+1)
		if key == lua.LNil || t.RawGet(key) == lua.LNil { // an element of the list wins, as in Lua, which stores it last
			m.rawset(L, t, key, value)
		}
	}
	L.Push(t)
	return 1
}

// modulo is a % b, which gopher-lua computes more exactly than Lua 5.1 does.
func modulo(m *machine, L *lua.LState) int {
	left, right := L.Get(1), L.Get(2)
	a, ok := left.(lua.LNumber)
	b, both := right.(lua.LNumber)
	if !ok || !both {
		return m.arithmetic(L, "__mod", luaModulo)
	}
	return push(L, lua.LNumber(luaModulo(float64(a), float64(b))))
}

func luaModulo(a, b float64) float64 { return a - float64(math.Floor(a/b)*b) }

// several counts the values of an expression that a constructor takes all of.
func several(m *machine, L *lua.LState) int {
	m.charge(L.GetTop() * entrySize)
	return L.GetTop()
}

// forBound is a bound of a loop as a number.
func forBound(what string) builtin {
	return func(m *machine, L *lua.LState) int {
		f, ok := asNumber(L.Get(1))
		if !ok {
			m.fail(L, "'for' %s must be a number", what)
		}
		L.Push(lua.LNumber(f))
		return 1
	}
}

// asNumber is the number of a number or text, as lua_tonumber.
func asNumber(v lua.LValue) (f float64, ok bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return parseNumber(string(v))
	}
	return 0, false
}
