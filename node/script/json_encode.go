package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

func jsonEncode(m *machine, L *lua.LState) int {
	if L.GetTop() != 1 {
		m.argument(L, 1, "expected 1 argument")
	}
	e := &jsonEncoder{m: m, L: L}
	e.value(L.Get(1), 0)
	return push(L, lua.LString(e.out))
}

type jsonEncoder struct {
	m   *machine
	L   *lua.LState
	out []byte
}

func (e *jsonEncoder) fail(v lua.LValue, reason string) {
	e.m.fail(e.L, "Cannot serialise %s: %s", v.Type(), reason)
}

func (e *jsonEncoder) add(text string) {
	e.m.hold(len(text))
	e.out = append(e.out, text...)
}

func (e *jsonEncoder) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		e.text(string(v))
	case lua.LNumber:
		e.number(v)
	case lua.LBool:
		e.add(v.String())
	case *lua.LTable:
		if depth++; depth > e.m.encodeDepth || depth > 4000 {
			e.m.fail(e.L, "Cannot serialise, excessive nesting (%d)", depth)
		}
		e.table(v, depth)
	case *lua.LNilType:
		e.add("null")
	default:
		if v != e.m.null {
			e.fail(v, "type not supported")
		}
		e.add("null")
	}
}

func (e *jsonEncoder) number(v lua.LNumber) {
	f := float64(v)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		switch e.m.encodeInvalid {
		case 0:
			e.fail(v, "must not be NaN or Inf")
		case 2:
			e.add("null")
			return
		}
		if math.IsNaN(f) {
			e.add("nan")
			return
		}
	}
	e.m.hold(8)
	e.out = appendG(e.out, f, e.m.precision)
}

var jsonEscapes = func() (escapes [256]string) {
	const hex = "0123456789abcdef"
	for c := range 32 {
		escapes[c] = `\u00` + hex[c>>4:c>>4+1] + hex[c&15:c&15+1]
	}
	escapes['\b'], escapes['\t'], escapes['\n'], escapes['\f'], escapes['\r'] = `\b`, `\t`, `\n`, `\f`, `\r`
	escapes['"'], escapes['/'], escapes['\\'], escapes[127] = `\"`, `\/`, `\\`, `\u007f`
	return escapes
}()

func (e *jsonEncoder) text(s string) {
	e.m.hold(len(s) + 2)
	e.out = append(e.out, '"')
	for i := range len(s) {
		if escape := jsonEscapes[s[i]]; escape != "" {
			e.m.hold(len(escape))
			e.out = append(e.out, escape...)
			continue
		}
		e.out = append(e.out, s[i])
	}
	e.out = append(e.out, '"')
}

// length is the largest key of a table that is a list, or -1 of one that is an object.
func (e *jsonEncoder) length(t *lua.LTable) int {
	most, count := 0, 0
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		n, ok := k.(lua.LNumber)
		if !ok || n <= 0 || n != lua.LNumber(math.Floor(float64(n))) {
			return -1
		}
		most, count = max(most, int(n)), count+1
	}
	e.m.work(count)
	if ratio := e.m.sparseRatio; ratio > 0 && most > count*ratio && most > e.m.sparseSafe {
		if !e.m.sparseConvert {
			e.fail(t, "excessively sparse array")
		}
		return -1
	}
	return most
}

func (e *jsonEncoder) table(t *lua.LTable, depth int) {
	if n := e.length(t); n > 0 {
		e.add("[")
		for i := 1; i <= n; i++ {
			if i > 1 {
				e.add(",")
			}
			e.value(t.RawGet(lua.LNumber(i)), depth)
		}
		e.add("]")
		return
	}
	e.add("{")
	first := true
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if !first {
			e.add(",")
		}
		first = false
		switch k := k.(type) {
		case lua.LString:
			e.text(string(k))
		case lua.LNumber:
			e.add(`"`)
			e.number(k)
			e.add(`"`)
		default:
			e.fail(k, "table key must be a number or string")
		}
		e.add(":")
		e.value(v, depth)
	}
	e.add("}")
}
