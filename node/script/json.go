package script

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

// jsonOptions are what cjson's functions set. They hold until the script ends; with Redis, until the server does.
type jsonOptions struct {
	sparseConvert, keepBuffer           bool
	sparseRatio, sparseSafe             int
	encodeDepth, decodeDepth, precision int
	encodeInvalid                       int // 0 is an error, 1 as it is, 2 is null
	decodeInvalid                       bool
}

var defaultJSON = jsonOptions{
	keepBuffer: true, sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000, precision: 14, decodeInvalid: true,
}

func (m *machine) openJSON() {
	m.null = m.state.NewUserData()
	t := m.open("cjson", map[string]builtin{
		"encode": jsonEncode, "decode": jsonDecode, "encode_sparse_array": jsonSparse, "encode_invalid_numbers": jsonEncodeInvalid,
		"encode_max_depth":        func(m *machine, L *lua.LState) int { return m.jsonNumber(L, 1, &m.encodeDepth, 1, 1<<31-1) },
		"decode_max_depth":        func(m *machine, L *lua.LState) int { return m.jsonNumber(L, 1, &m.decodeDepth, 1, 1<<31-1) },
		"encode_number_precision": func(m *machine, L *lua.LState) int { return m.jsonNumber(L, 1, &m.precision, 1, 14) },
		"encode_keep_buffer":      func(m *machine, L *lua.LState) int { return m.jsonBool(L, 1, &m.keepBuffer) },
		"decode_invalid_numbers":  func(m *machine, L *lua.LState) int { return m.jsonBool(L, 1, &m.decodeInvalid) },
		"new":                     func(m *machine, L *lua.LState) int { return push(L, m.globals.RawGetString("cjson")) },
	})
	t.RawSetString("null", m.null)
	t.RawSetString("_NAME", lua.LString("cjson"))
	t.RawSetString("_VERSION", lua.LString("2.1.0"))
}

// jsonArguments refuses more arguments than an option has.
func (m *machine) jsonArguments(L *lua.LState, most int) {
	if L.GetTop() > most {
		m.argument(L, most+1, "found too many arguments")
	}
}

// jsonNumber sets an option that is an argument, if there is one, and returns it.
func (m *machine) jsonNumber(L *lua.LState, i int, option *int, low, high int) int {
	m.jsonArguments(L, max(i, 1))
	if L.Get(i) != lua.LNil {
		n := m.integer(L, i)
		if n < low || n > high {
			m.argument(L, i, fmt.Sprintf("expected integer between %d and %d", low, high))
		}
		*option = n
	}
	return push(L, lua.LNumber(*option))
}

func (m *machine) jsonBool(L *lua.LState, i int, option *bool) int {
	m.jsonArguments(L, max(i, 1))
	switch v := L.Get(i).(type) {
	case *lua.LNilType:
	case lua.LBool:
		*option = bool(v)
	default:
		switch text := m.text(L, i); text {
		case "on":
			*option = true
		case "off":
			*option = false
		default:
			m.argument(L, i, "invalid option '"+text+"'")
		}
	}
	return push(L, lua.LBool(*option))
}

func jsonSparse(m *machine, L *lua.LState) int {
	m.jsonArguments(L, 3)
	convert, ratio, safe := L.Get(1), L.Get(2), L.Get(3)
	L.SetTop(0)
	pushAll(L, []lua.LValue{convert, ratio, safe})
	for i, option := range []*int{&m.sparseRatio, &m.sparseSafe} {
		if v := L.Get(i + 2); v != lua.LNil {
			n := m.integer(L, i+2)
			if n < 0 || n > 1<<31-1 {
				m.argument(L, i+2, fmt.Sprintf("expected integer between %d and %d", 0, 1<<31-1))
			}
			*option = n
		}
	}
	if v, ok := convert.(lua.LBool); ok {
		m.sparseConvert = bool(v)
	}
	return pushAll(L, []lua.LValue{lua.LBool(m.sparseConvert), lua.LNumber(m.sparseRatio), lua.LNumber(m.sparseSafe)})
}

func jsonEncodeInvalid(m *machine, L *lua.LState) int {
	m.jsonArguments(L, 1)
	switch v := L.Get(1).(type) {
	case *lua.LNilType:
	case lua.LBool:
		m.encodeInvalid = 0
		if v {
			m.encodeInvalid = 1
		}
	default:
		switch text := m.text(L, 1); text {
		case "off":
			m.encodeInvalid = 0
		case "on":
			m.encodeInvalid = 1
		case "null":
			m.encodeInvalid = 2
		default:
			m.argument(L, 1, "invalid option '"+text+"'")
		}
	}
	if m.encodeInvalid == 2 {
		return push(L, lua.LString("null"))
	}
	return push(L, lua.LBool(m.encodeInvalid == 1))
}
