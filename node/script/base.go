package script

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openBase opens the functions that are global, as many of them as Redis leaves.
func (m *machine) openBase() {
	m.open("", map[string]builtin{
		"assert": assert, "collectgarbage": collectGarbage, "error": raiseError, "gcinfo": gcInfo, "getmetatable": getMetatable,
		"ipairs": ipairs, "load": load, "loadstring": loadString, "next": next, "pairs": pairs, "pcall": pcall, "rawequal": rawEqual,
		"rawget": rawGet, "rawset": rawSet, "select": selectValues, "setmetatable": setMetatable, "tonumber": toNumber, "tostring": toString,
		"type": typeOf, "unpack": unpack, "xpcall": xpcall,
		"__redis__err__handler": func(_ *machine, L *lua.LState) int { return push(L, L.Get(1)) },
	})
	m.next = m.globals.RawGetString("next").(*lua.LFunction)
	m.nextIndex = m.function("ipairs", ipairsStep)
	m.globals.RawSetString("_G", m.globals)
	m.globals.RawSetString("_VERSION", lua.LString("Lua 5.1"))
	m.globals.Metatable = m.strict()
}

// strict returns the metatable of tables of which nothing is read that is not there.
func (m *machine) strict() *lua.LTable {
	meta := m.state.CreateTable(0, 1)
	meta.RawSetString("__index", m.function("__index", func(m *machine, L *lua.LState) int {
		name, ok := asText(L.Get(2))
		if !ok {
			m.fail(L, "Second argument to luaProtectedTableError must be a string or number")
		}
		m.fail(L, "Script attempted to access nonexistent global variable '%s'", name)
		return 0
	}))
	return meta
}

func assert(m *machine, L *lua.LState) int {
	if lua.LVAsBool(m.any(L, 1)) {
		return L.GetTop()
	}
	m.fail(L, "%s", m.optionalText(L, 2, "assertion failed!"))
	return 0
}

// collectGarbage reports what is used; there is nothing to be collected here.
func collectGarbage(m *machine, L *lua.LState) int {
	switch what := m.optionalText(L, 1, "collect"); what {
	case "count":
		return push(L, lua.LNumber(float64(m.used)/1024))
	case "collect", "stop", "restart", "setpause", "setstepmul":
		return push(L, lua.LNumber(0))
	case "step":
		return push(L, lua.LFalse)
	default:
		m.argument(L, 1, "invalid option '"+what+"'")
		return 0
	}
}

func gcInfo(m *machine, L *lua.LState) int { return push(L, lua.LNumber(m.used/1024)) }

// raiseError is error().
func raiseError(m *machine, L *lua.LState) int {
	level := m.optionalInteger(L, 2, 1)
	v := L.Get(1)
	if text, ok := asText(v); ok && level > 0 {
		v = lua.LString(where(L, level) + text)
	}
	m.raise(L, v)
	return 0
}

func getMetatable(m *machine, L *lua.LState) int {
	return push(L, L.GetMetatable(m.any(L, 1)))
}

func setMetatable(m *machine, L *lua.LState) int {
	t, meta := m.table(L, 1), L.Get(2)
	if _, ok := meta.(*lua.LTable); !ok && (meta != lua.LNil || L.GetTop() < 2) {
		m.argument(L, 2, "nil or table expected")
	}
	if L.GetMetaField(t, "__metatable") != lua.LNil {
		m.fail(L, "cannot change a protected metatable")
	}
	m.writable(L, t)
	t.Metatable = meta
	return push(L, t)
}

// writable raises an error if a table is read-only.
func (m *machine) writable(L *lua.LState, t *lua.LTable) {
	if m.isReadonly(t) {
		m.raise(L, lua.LString("Attempt to modify a readonly table"))
	}
}

func rawEqual(m *machine, L *lua.LState) int {
	return push(L, lua.LBool(L.RawEqual(m.any(L, 1), m.any(L, 2))))
}

func rawGet(m *machine, L *lua.LState) int {
	return push(L, m.table(L, 1).RawGet(m.any(L, 2)))
}

func rawSet(m *machine, L *lua.LState) int {
	t, key, value := m.table(L, 1), m.any(L, 2), m.any(L, 3)
	m.writable(L, t)
	m.rawset(L, t, key, value)
	return push(L, t)
}

// following returns the entry after key. Names that only rewritten scripts know are passed over.
func following(t *lua.LTable, key lua.LValue) (k, v lua.LValue) {
	for k = key; ; {
		if n, ok := k.(lua.LNumber); ok && n >= 1 && n < maxIndex && int(n) > arrayLength(t) { // the array has become shorter since
			if k = lua.LNumber(arrayLength(t)); k == lua.LNumber(0) {
				k = lua.LNil
			}
		}
		k, v = t.Next(k)
		if name, ok := k.(lua.LString); !ok || !strings.HasPrefix(string(name), "\x00") || v.Type() != lua.LTFunction {
			return k, v
		}
	}
}

func next(m *machine, L *lua.LState) int {
	k, v := following(m.table(L, 1), L.Get(2))
	if k == lua.LNil {
		return push(L, lua.LNil)
	}
	L.Push(k)
	L.Push(v)
	return 2
}

func pairs(m *machine, L *lua.LState) int {
	t := m.table(L, 1)
	L.Push(m.next)
	L.Push(t)
	L.Push(lua.LNil)
	return 3
}

func ipairs(m *machine, L *lua.LState) int {
	t := m.table(L, 1)
	L.Push(m.nextIndex)
	L.Push(t)
	L.Push(lua.LNumber(0))
	return 3
}

func ipairsStep(m *machine, L *lua.LState) int {
	i := m.integer(L, 2) + 1
	v := m.table(L, 1).RawGet(lua.LNumber(i))
	if v == lua.LNil {
		return 0
	}
	L.Push(lua.LNumber(i))
	L.Push(v)
	return 2
}

func selectValues(m *machine, L *lua.LState) int {
	n := L.GetTop()
	if s, ok := L.Get(1).(lua.LString); ok && strings.HasPrefix(string(s), "#") {
		return push(L, lua.LNumber(n-1))
	}
	i := m.integer(L, 1)
	if i < 0 {
		i = n + i
	} else if i > n {
		i = n
	}
	if i < 1 {
		m.argument(L, 1, "index out of range")
	}
	return n - i
}

// maxValues is how many values unpack returns at most: what the stack of Lua in C has room for.
const maxValues = 7997

func unpack(m *machine, L *lua.LState) int {
	t := m.table(L, 1)
	from, to := m.optionalInteger(L, 2, 1), t.Len()
	if L.Get(3) != lua.LNil {
		to = m.integer(L, 3)
	}
	if from > to {
		return 0
	}
	if n := to - from + 1; n <= 0 || n > maxValues-L.GetTop()+1 {
		m.fail(L, "too many results to unpack")
	}
	for i := from; i <= to; i++ {
		L.Push(t.RawGet(lua.LNumber(i)))
	}
	return to - from + 1
}

func toNumber(m *machine, L *lua.LState) int {
	base := m.optionalInteger(L, 2, 10)
	if base == 10 {
		if f, ok := asNumber(m.any(L, 1)); ok {
			return push(L, lua.LNumber(f))
		}
		return push(L, lua.LNil)
	}
	text := m.text(L, 1)
	if base < 2 || base > 36 {
		m.argument(L, 2, "base out of range")
	}
	text = strings.Trim(untilZero(text), " \t\n\v\f\r")
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimLeft(text, "+-")
	if base == 16 && len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		text = text[2:]
	}
	n := uint64(0)
	for i := range len(text) {
		d := digit(text[i])
		if d >= base {
			return push(L, lua.LNil)
		}
		n = n*uint64(base) + uint64(d)
	}
	if text == "" {
		return push(L, lua.LNil)
	}
	if negative {
		n = -n
	}
	return push(L, lua.LNumber(float64(n)))
}

func toString(m *machine, L *lua.LState) int {
	return push(L, lua.LString(m.tostring(L, m.any(L, 1))))
}

// tostring is a value as text, by its metatable's __tostring if it has one.
func (m *machine) tostring(L *lua.LState, v lua.LValue) string {
	if text, ok := asText(v); ok {
		return text
	}
	if f := L.GetMetaField(v, "__tostring"); f != lua.LNil {
		L.Push(f)
		L.Push(v)
		L.Call(1, 1)
		text, ok := asText(L.Get(-1))
		L.Pop(1)
		if !ok {
			m.fail(L, "'tostring' must return a string to 'print'")
		}
		return text
	}
	switch v := v.(type) {
	case *lua.LUserData:
		if v == m.null {
			return "userdata: (nil)"
		}
		return fmt.Sprintf("userdata: %p", v)
	default:
		return v.String()
	}
}

func typeOf(m *machine, L *lua.LState) int {
	return push(L, lua.LString(m.any(L, 1).Type().String()))
}

// load takes a text in pieces from a function.
func load(m *machine, L *lua.LState) int {
	f := m.callable(L, 1)
	name := m.optionalText(L, 2, "=(load)")
	var text strings.Builder
	for {
		L.Push(f)
		L.Call(0, 1)
		piece := L.Get(-1)
		L.Pop(1)
		s, ok := asText(piece)
		if piece != lua.LNil && !ok {
			L.Push(lua.LNil)
			return 1 + push(L, lua.LString("reader function must return a string"))
		}
		if s == "" {
			return m.load(L, text.String(), name)
		}
		m.hold(2 * len(s))
		text.WriteString(s)
	}
}

func loadString(m *machine, L *lua.LState) int {
	text := m.text(L, 1)
	return m.load(L, text, m.optionalText(L, 2, text))
}

// load compiles a text. Code that is compiled already is refused, as Redis does.
func (m *machine) load(L *lua.LState, text, name string) int {
	name = shortName(name)
	m.hold(16 * len(text))
	m.work(len(text))
	proto, err := compile([]byte(text), name)
	if strings.HasPrefix(text, "\x1bLua") {
		err = fmt.Errorf("%s: bad code", name)
	}
	if err != nil {
		L.Push(lua.LNil)
		return 1 + push(L, lua.LString(err.Error()))
	}
	f := L.NewFunctionFromProto(proto)
	f.Env = m.environment
	return push(L, f)
}

// shortName is how errors call a text that is not a script of its own.
func shortName(name string) string {
	if strings.HasPrefix(name, "=") || strings.HasPrefix(name, "@") {
		return name[1:min(len(name), 60)]
	}
	const room = 60 - len(`[string "..."]`) - 1
	line, _, cut := strings.Cut(name, "\n")
	if cut || len(line) > room {
		return `[string "` + line[:min(len(line), room)] + `..."]`
	}
	return `[string "` + line + `"]`
}
