package script

import (
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (m *machine) openTable() {
	m.open("table", map[string]builtin{
		"concat": tableConcat, "foreach": tableForEach, "foreachi": tableForEachI, "insert": tableInsert, "maxn": tableMaxN, "remove": tableRemove,
		"sort": tableSort,
		"getn": func(m *machine, L *lua.LState) int { return push(L, lua.LNumber(m.table(L, 1).Len())) },
		"setn": func(m *machine, L *lua.LState) int {
			m.table(L, 1)
			m.fail(L, "'setn' is obsolete")
			return 0
		},
	})
}

func tableConcat(m *machine, L *lua.LState) int {
	t, separator := m.table(L, 1), m.optionalText(L, 2, "")
	from, to := m.optionalInteger(L, 3, 1), t.Len()
	if L.Get(4) != lua.LNil {
		to = m.integer(L, 4)
	}
	var joined strings.Builder
	for i := from; i <= to; i++ {
		text, ok := asText(t.RawGet(lua.LNumber(i)))
		if !ok {
			m.fail(L, "invalid value (%s) at index %d in table for 'concat'", t.RawGet(lua.LNumber(i)).Type(), i)
		}
		m.hold(len(text) + len(separator))
		m.work(1)
		joined.WriteString(text)
		if i != to {
			joined.WriteString(separator)
		}
	}
	return push(L, lua.LString(joined.String()))
}

func tableForEach(m *machine, L *lua.LState) int {
	t, f := m.table(L, 1), m.callable(L, 2)
	for k, v := following(t, lua.LNil); k != lua.LNil; k, v = following(t, k) {
		if m.visit(L, f, k, v) {
			return 1
		}
	}
	return 0
}

func tableForEachI(m *machine, L *lua.LState) int {
	t, f := m.table(L, 1), m.callable(L, 2)
	for i, n := 1, t.Len(); i <= n; i++ {
		if m.visit(L, f, lua.LNumber(i), t.RawGetInt(i)) {
			return 1
		}
	}
	return 0
}

// visit calls f and leaves its result on the stack if that is not nil.
func (m *machine) visit(L *lua.LState, f *lua.LFunction, k, v lua.LValue) (found bool) {
	m.work(1)
	L.Push(f)
	L.Push(k)
	L.Push(v)
	L.Call(2, 1)
	if L.Get(-1) != lua.LNil {
		return true
	}
	L.Pop(1)
	return false
}

func tableInsert(m *machine, L *lua.LState) int {
	t := m.table(L, 1)
	end := t.Len() + 1
	switch L.GetTop() {
	case 2:
		m.writable(L, t)
		m.rawset(L, t, lua.LNumber(end), L.Get(2))
	case 3:
		at := m.integer(L, 2)
		m.writable(L, t)
		end = max(end, at)
		m.work((end - at) >> 3)
		for i := end; i > at; i-- {
			m.rawset(L, t, lua.LNumber(i), t.RawGet(lua.LNumber(i-1)))
		}
		m.rawset(L, t, lua.LNumber(at), L.Get(3))
	default:
		m.fail(L, "wrong number of arguments to 'insert'")
	}
	return 0
}

func tableRemove(m *machine, L *lua.LState) int {
	t := m.table(L, 1)
	end := t.Len()
	at := m.optionalInteger(L, 2, end)
	if at < 1 || at > end {
		return 0
	}
	m.writable(L, t)
	L.Push(t.RawGet(lua.LNumber(at)))
	m.work((end - at) >> 3)
	for i := at; i < end; i++ {
		m.rawset(L, t, lua.LNumber(i), t.RawGet(lua.LNumber(i+1)))
	}
	m.rawset(L, t, lua.LNumber(end), lua.LNil)
	return 1
}

func tableMaxN(m *machine, L *lua.LState) int {
	t := m.table(L, 1)
	most := lua.LNumber(0)
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if n, ok := k.(lua.LNumber); ok {
			most = max(most, n)
		}
	}
	return push(L, most)
}

// sorter sorts a copy of a table's elements.
type sorter struct {
	m      *machine
	L      *lua.LState
	less   lua.LValue
	values []lua.LValue
}

func (s *sorter) Len() int      { return len(s.values) }
func (s *sorter) Swap(i, j int) { s.values[i], s.values[j] = s.values[j], s.values[i] }

func (s *sorter) Less(i, j int) bool {
	s.m.work(1)
	if s.less == lua.LNil {
		return s.m.less(s.L, s.values[i], s.values[j])
	}
	s.L.Push(s.less)
	s.L.Push(s.values[i])
	s.L.Push(s.values[j])
	s.L.Call(2, 1)
	v := lua.LVAsBool(s.L.Get(-1))
	s.L.Pop(1)
	return v
}

// tableSort: how equal elements come out is not as in Lua in C, which says nothing about it.
func tableSort(m *machine, L *lua.LState) int {
	t, n := m.table(L, 1), m.table(L, 1).Len()
	s := &sorter{m: m, L: L, less: L.Get(2), values: make([]lua.LValue, n)}
	if s.less != lua.LNil {
		m.callable(L, 2)
	}
	m.hold(n * entrySize)
	for i := range n {
		s.values[i] = t.RawGetInt(i + 1)
	}
	if n > 1 {
		m.writable(L, t)
	}
	sort.Sort(s)
	for i, v := range s.values {
		m.rawset(L, t, lua.LNumber(i+1), v)
	}
	return 0
}

// less is a < b, called by a function of a library.
func (m *machine) less(L *lua.LState, a, b lua.LValue) bool {
	if a.Type() == b.Type() && (a.Type() == lua.LTNumber || a.Type() == lua.LTString || L.GetMetaField(a, "__lt") != lua.LNil) {
		return L.LessThan(a, b)
	}
	text := "attempt to compare two " + a.Type().String() + " values"
	if a.Type() != b.Type() {
		text = "attempt to compare " + a.Type().String() + " with " + b.Type().String()
	}
	m.raise(L, lua.LString(text))
	return false
}
