package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (m *machine) openString() {
	t := m.open("string", map[string]builtin{
		"byte": stringByte, "char": stringChar, "find": stringFind, "format": stringFormat, "gmatch": stringGMatch, "gsub": stringGSub,
		"match": stringMatch, "rep": stringRep, "reverse": stringReverse, "sub": stringSub,
		"len": func(m *machine, L *lua.LState) int { return push(L, lua.LNumber(len(m.text(L, 1)))) },
		"lower": mapped(func(c byte) byte {
			if c >= 'A' && c <= 'Z' {
				return c + 32
			}
			return c
		}),
		"upper": mapped(func(c byte) byte {
			if c >= 'a' && c <= 'z' {
				return c - 32
			}
			return c
		}),
		"dump": func(m *machine, L *lua.LState) int {
			m.callable(L, 1) // Redis returns its code, which it does not load; here there is none
			m.fail(L, "unable to dump given function")
			return 0
		},
	})
	t.RawSetString("gfind", t.RawGetString("gmatch"))
	meta := m.state.CreateTable(0, 8)
	meta.RawSetString("__index", t)
	m.openTextArithmetic(meta)
	m.state.SetMetatable(lua.LString(""), meta)
	m.lock(meta)
}

func mapped(f func(byte) byte) builtin {
	return func(m *machine, L *lua.LState) int {
		text := []byte(m.text(L, 1))
		m.charge(stringSize + len(text))
		for i, c := range text {
			text[i] = f(c)
		}
		return push(L, lua.LString(text))
	}
}

// positions turns a position, which may be counted from the end, into one from the beginning.
func position(i, length int) int {
	switch {
	case i >= 0:
		return i
	case -i > length:
		return 0
	}
	return length + i + 1
}

func stringSub(m *machine, L *lua.LState) int {
	s := m.text(L, 1)
	from := max(position(m.integer(L, 2), len(s)), 1)
	to := min(position(m.optionalInteger(L, 3, -1), len(s)), len(s))
	if from > to {
		return push(L, lua.LString(""))
	}
	m.charge(stringSize)
	return push(L, lua.LString(s[from-1:to]))
}

func stringByte(m *machine, L *lua.LState) int {
	s := m.text(L, 1)
	first := position(m.optionalInteger(L, 2, 1), len(s))
	from, to := max(first, 1), min(position(m.optionalInteger(L, 3, first), len(s)), len(s))
	if from > to {
		return 0
	}
	if to-from+1 > maxValues {
		m.fail(L, "string slice too long")
	}
	for i := from; i <= to; i++ {
		L.Push(lua.LNumber(s[i-1]))
	}
	return to - from + 1
}

func stringChar(m *machine, L *lua.LState) int {
	text := make([]byte, L.GetTop())
	for i := range text {
		c := m.integer(L, i+1)
		if c < 0 || c > 255 {
			m.argument(L, i+1, "invalid value")
		}
		text[i] = byte(c)
	}
	m.charge(stringSize + len(text))
	return push(L, lua.LString(text))
}

func stringRep(m *machine, L *lua.LState) int {
	s, n := m.text(L, 1), m.integer(L, 2)
	if n <= 0 || s == "" {
		return push(L, lua.LString(""))
	}
	if n > int(m.limit)/len(s) {
		m.stop(noMemory)
	}
	m.charge(stringSize + n*len(s))
	m.work(n * len(s) >> 10)
	return push(L, lua.LString(strings.Repeat(s, n)))
}

func stringReverse(m *machine, L *lua.LState) int {
	s := m.text(L, 1)
	m.charge(stringSize + len(s))
	text := make([]byte, len(s))
	for i := range len(s) {
		text[len(s)-1-i] = s[i]
	}
	return push(L, lua.LString(text))
}

func stringFind(m *machine, L *lua.LState) int  { return m.find(L, true) }
func stringMatch(m *machine, L *lua.LState) int { return m.find(L, false) }

// find is string.find, or string.match.
func (m *machine) find(L *lua.LState, positions bool) int {
	s := &matcher{m: m, L: L, src: m.text(L, 1), pat: m.text(L, 2)}
	start := min(max(position(m.optionalInteger(L, 3, 1), len(s.src))-1, 0), len(s.src))
	if positions && (lua.LVAsBool(L.Get(4)) || !strings.ContainsAny(s.pat, patternSpecial)) {
		m.work(len(s.src) >> 6)
		i := strings.Index(s.src[start:], s.pat)
		if i < 0 {
			return push(L, lua.LNil)
		}
		L.Push(lua.LNumber(start + i + 1))
		return 1 + push(L, lua.LNumber(start+i+len(s.pat)))
	}
	p := 0
	if strings.HasPrefix(s.pat, "^") {
		p = 1
	}
	for i := start; i <= len(s.src); i++ {
		s.again()
		if end := s.match(i, p); end >= 0 {
			if !positions {
				return s.push(i, end, true)
			}
			L.Push(lua.LNumber(i + 1))
			L.Push(lua.LNumber(end))
			return 2 + s.push(i, end, false)
		}
		if p == 1 {
			break
		}
	}
	return push(L, lua.LNil)
}

func stringGMatch(m *machine, L *lua.LState) int {
	src, pat := m.text(L, 1), m.text(L, 2)
	at := 0
	return push(L, m.function("gmatch", func(m *machine, L *lua.LState) int {
		s := &matcher{m: m, L: L, src: src, pat: pat}
		for ; at <= len(src); at++ {
			s.again()
			if end := s.match(at, 0); end >= 0 {
				start := at
				at = end
				if end == start {
					at++
				}
				return s.push(start, end, true)
			}
		}
		return 0
	}))
}

func stringGSub(m *machine, L *lua.LState) int {
	s := &matcher{m: m, L: L, src: m.text(L, 1), pat: m.text(L, 2)}
	switch L.Get(3).Type() {
	case lua.LTNumber, lua.LTString, lua.LTTable, lua.LTFunction:
	default:
		m.argument(L, 3, "string/function/table expected")
	}
	most := m.optionalInteger(L, 4, len(s.src)+1)
	anchored := strings.HasPrefix(s.pat, "^")
	if anchored {
		s.pat = s.pat[1:]
	}
	var out []byte
	at, n := 0, 0
	for n < most {
		s.again()
		end := s.match(at, 0)
		if end >= 0 {
			n++
			out = s.substitute(out, at, end)
		}
		switch {
		case end > at:
			at = end
		case at < len(s.src):
			m.hold(1)
			out = append(out, s.src[at])
			at++
		default:
			at = len(s.src) + 1
		}
		if at > len(s.src) || anchored {
			break
		}
	}
	if at < len(s.src) {
		m.hold(len(s.src) - at)
		out = append(out, s.src[at:]...)
	}
	L.Push(lua.LString(out))
	return 1 + push(L, lua.LNumber(n))
}

// substitute appends what replaces a match.
func (s *matcher) substitute(out []byte, start, end int) []byte {
	L := s.L
	var v lua.LValue
	switch by := L.Get(3).(type) {
	case *lua.LTable:
		v = L.GetTable(by, s.value(0, start, end))
	case *lua.LFunction:
		L.Push(by)
		n := s.push(start, end, true)
		L.Call(n, 1)
		v = L.Get(-1)
		L.Pop(1)
	default:
		text, _ := asText(by)
		return s.template(out, text, start, end)
	}
	if !lua.LVAsBool(v) {
		s.m.hold(end - start)
		return append(out, s.src[start:end]...)
	}
	text, ok := asText(v)
	if !ok {
		s.m.fail(L, "invalid replacement value (a %s)", v.Type())
	}
	s.m.hold(len(text))
	return append(out, text...)
}

// template appends a text in which %1 is a capture.
func (s *matcher) template(out []byte, text string, start, end int) []byte {
	s.m.hold(len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			out = append(out, text[i])
			continue
		}
		i++
		switch {
		case i >= len(text):
			out = append(out, 0)
		case !isDigit(text[i]):
			out = append(out, text[i])
		case text[i] == '0':
			s.m.hold(end - start)
			out = append(out, s.src[start:end]...)
		default:
			part, _ := asText(s.value(int(text[i]-'1'), start, end))
			s.m.hold(len(part))
			out = append(out, part...)
		}
	}
	return out
}
