package script

import (
	"bytes"
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// replyReader makes values of the replies of commands.
type replyReader struct {
	m    *machine
	L    *lua.LState
	rest []byte
}

// maxNesting is how deep a reply of a command may be nested.
const maxNesting = 128

// value returns a reply as a value. One that is cut off, or that nobody sends, is nil.
func (m *machine) value(L *lua.LState, reply []byte) lua.LValue {
	r := &m.replies
	r.m, r.L, r.rest = m, L, reply
	v := r.next(0)
	r.L, r.rest = nil, nil
	return v
}

// line returns the type of what follows and the rest of its line.
func (r *replyReader) line() (kind byte, text []byte) {
	line, rest, ok := bytes.Cut(r.rest, []byte("\r\n"))
	r.rest = rest
	if !ok || len(line) == 0 {
		r.rest = nil
		return 0, nil
	}
	return line[0], line[1:]
}

// blob returns as many bytes as a line has said, or false for none.
func (r *replyReader) blob(length []byte) (text []byte, ok bool) {
	n, err := strconv.Atoi(string(length))
	if err != nil || n < 0 || n > len(r.rest) {
		return nil, false
	}
	text = r.rest[:n]
	r.rest = r.rest[min(n+2, len(r.rest)):]
	return text, true
}

func (r *replyReader) text(b []byte) lua.LString {
	r.m.charge(stringSize + len(b))
	return lua.LString(b)
}

// field is a table of one field.
func (r *replyReader) field(name string, v lua.LValue) lua.LValue {
	r.m.charge(tableSize + keySize)
	t := r.L.CreateTable(0, 1)
	t.RawSetString(name, v)
	return t
}

func (r *replyReader) next(depth int) lua.LValue {
	if depth > maxNesting {
		r.rest = nil
		return lua.LNil
	}
	switch kind, line := r.line(); kind {
	case '+':
		return r.field("ok", r.text(line))
	case '-':
		t := r.m.redisError(errorText(line))
		t.RawSetString("ignore_error_stats_update", lua.LTrue)
		return t
	case ':':
		n, _ := strconv.ParseInt(string(line), 10, 64)
		return lua.LNumber(n)
	case '$':
		if text, ok := r.blob(line); ok {
			return r.text(text)
		}
		return lua.LFalse
	case '*', '~', '%', '|':
		return r.aggregate(kind, line, depth)
	case '#':
		return lua.LBool(string(line) == "t")
	case ',':
		return r.field("double", lua.LNumber(parseDouble(string(line))))
	case '(':
		return r.field("big_number", r.text(line))
	case '=':
		return r.verbatim(line)
	}
	return lua.LNil
}

// errorText is an error as redis.pcall returns it: with a code.
func errorText(line []byte) string {
	if bytes.IndexByte(line, ' ') < 0 {
		return "ERR " + string(line)
	}
	return string(line)
}

func parseDouble(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0
	}
	return f
}

func (r *replyReader) verbatim(length []byte) lua.LValue {
	text, ok := r.blob(length)
	if !ok || len(text) < 4 {
		return lua.LNil
	}
	r.m.charge(tableSize + 2*keySize)
	t := r.L.CreateTable(0, 2)
	t.RawSetString("string", r.text(text[4:]))
	t.RawSetString("format", r.text(text[:3]))
	return r.field("verbatim_string", t)
}

// aggregate is a list, a set, a map, or attributes, which nobody sees, and what follows them.
func (r *replyReader) aggregate(kind byte, count []byte, depth int) lua.LValue {
	n, err := strconv.Atoi(string(count))
	if err != nil || n < 0 {
		return lua.LFalse
	}
	n = min(n, len(r.rest))
	switch kind {
	case '*':
		return r.list(n, depth)
	case '|':
		for range 2 * n {
			r.next(depth + 1)
		}
		return r.next(depth)
	}
	r.m.charge(tableSize + n*keySize)
	t := r.L.CreateTable(0, n)
	for range n {
		key := r.next(depth + 1)
		var v lua.LValue = lua.LTrue
		if kind == '%' {
			v = r.next(depth + 1)
		}
		if key != lua.LNil {
			t.RawSet(key, v)
		}
	}
	if kind == '%' {
		return r.field("map", t)
	}
	return r.field("set", t)
}

func (r *replyReader) list(n, depth int) lua.LValue {
	r.m.charge(tableSize + n*entrySize)
	t := r.L.CreateTable(n, 0)
	for i := range n {
		if v := r.next(depth + 1); v != lua.LNil {
			r.m.setNumber(t, lua.LNumber(i+1), v)
		}
	}
	return t
}
