package script

import (
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
	lua "github.com/yuin/gopher-lua"
)

// maxReplyDepth is how deep a reply may be nested: what fits on the stack of Lua in C.
const maxReplyDepth = 7994

// entryDepth is what an entry of a map or set takes of it; an element of a list takes one.
const entryDepth = 3

// appendReply appends a value as a reply in the client's protocol.
func (m *machine) appendReply(dst []byte, v lua.LValue, depth int) []byte {
	if depth > maxReplyDepth {
		return resp.AppendError(dst, "ERR reached lua stack limit")
	}
	switch v := v.(type) {
	case lua.LString:
		return resp.AppendBulk(dst, string(v))
	case lua.LNumber:
		return resp.AppendInt(dst, toInteger(float64(v)))
	case lua.LBool:
		return m.appendBool(dst, bool(v))
	case *lua.LTable:
		return m.appendTable(dst, v, depth)
	}
	return resp.AppendNull(dst, m.run.RESP3)
}

// appendBool appends a boolean: of a script of RESP2, false is nil; of one of RESP3, a client of RESP2 sees numbers.
func (m *machine) appendBool(dst []byte, v bool) []byte {
	switch {
	case m.resp3 && m.run.RESP3 && v:
		return append(dst, "#t\r\n"...)
	case m.resp3 && m.run.RESP3:
		return append(dst, "#f\r\n"...)
	case v:
		return resp.AppendInt(dst, 1)
	case m.resp3:
		return resp.AppendInt(dst, 0)
	}
	return resp.AppendNull(dst, m.run.RESP3)
}

// appendTable appends a table: what a field says that it is, or a list that ends before the first nil.
func (m *machine) appendTable(dst []byte, t *lua.LTable, depth int) []byte {
	if text, ok := t.RawGetString("err").(lua.LString); ok {
		return appendErrorText(dst, string(text))
	}
	if text, ok := t.RawGetString("ok").(lua.LString); ok {
		line, _, _ := strings.Cut(string(text), "\x00")
		return resp.AppendSimple(dst, oneLine(line))
	}
	if f, ok := t.RawGetString("double").(lua.LNumber); ok {
		return resp.AppendDouble(dst, float64(f), m.run.RESP3)
	}
	if text, ok := t.RawGetString("big_number").(lua.LString); ok {
		return m.appendBigNumber(dst, oneLine(string(text)))
	}
	if inner, ok := t.RawGetString("verbatim_string").(*lua.LTable); ok {
		format, isText := inner.RawGetString("format").(lua.LString)
		if text, ok := inner.RawGetString("string").(lua.LString); ok && isText {
			return m.appendVerbatim(dst, string(format), string(text))
		}
	}
	if inner, ok := t.RawGetString("map").(*lua.LTable); ok {
		return m.appendEntries(dst, inner, true, depth)
	}
	if inner, ok := t.RawGetString("set").(*lua.LTable); ok {
		return m.appendEntries(dst, inner, false, depth)
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	dst = resp.AppendArray(dst, n)
	for i := 1; i <= n; i++ {
		dst = m.appendReply(dst, t.RawGetInt(i), depth+1)
	}
	return dst
}

func oneLine(text string) string {
	if strings.ContainsAny(text, "\r\n") {
		return strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
	}
	return text
}

func (m *machine) appendBigNumber(dst []byte, digits string) []byte {
	if !m.run.RESP3 {
		return resp.AppendBulk(dst, digits)
	}
	dst = append(dst, '(')
	dst = append(dst, digits...)
	return append(dst, "\r\n"...)
}

// appendVerbatim appends a text with a format of three letters.
func (m *machine) appendVerbatim(dst []byte, format, text string) []byte {
	if !m.run.RESP3 {
		return resp.AppendBulk(dst, text)
	}
	format, _, _ = strings.Cut(format, "\x00")
	dst = append(dst, '=')
	dst = strconv.AppendInt(dst, int64(len(text))+4, 10)
	dst = append(dst, "\r\n"+(format + "   ")[:3]+":"...)
	dst = append(dst, text...)
	return append(dst, "\r\n"...)
}

// appendEntries appends the keys of a table, as a map with their values or as a set, in the order in which they were added.
func (m *machine) appendEntries(dst []byte, t *lua.LTable, values bool, depth int) []byte {
	n := 0
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		n++
	}
	if values {
		dst = resp.AppendMap(dst, n, m.run.RESP3)
	} else {
		dst = resp.AppendSet(dst, n, m.run.RESP3)
	}
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		dst = m.appendReply(dst, k, depth+entryDepth)
		if values {
			dst = m.appendReply(dst, v, depth+entryDepth)
		}
	}
	return dst
}
