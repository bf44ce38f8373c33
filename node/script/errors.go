package script

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
	lua "github.com/yuin/gopher-lua"
)

// raise raises an error that is a value.
func (m *machine) raise(L *lua.LState, v lua.LValue) { L.Error(v, 0) }

// fail raises an error that is a text, with the place of the call, as luaL_error.
func (m *machine) fail(L *lua.LState, format string, args ...any) {
	m.raise(L, lua.LString(where(L, 1)+fmt.Sprintf(format, args...)))
}

// where is the place where the function of a level is, "user_script:1: ", or nothing if that is not a script's.
func where(L *lua.LState, level int) string {
	frame, ok := L.GetStack(level)
	if !ok {
		return ""
	}
	if _, err := L.GetInfo("Sl", frame, lua.LNil); err != nil || frame.CurrentLine <= 0 {
		return ""
	}
	return frame.Source + ":" + strconv.Itoa(frame.CurrentLine) + ": "
}

// place is where the script is, in the form of a StackTrace of gopher-lua.
func (m *machine) place() string {
	L := m.state.G.CurrentThread
	if L == nil {
		return "?"
	}
	for level := range 3 {
		if at := where(L, level); at != "" {
			return "stack traceback:\n\t" + at + "in ?"
		}
	}
	return "?"
}

// redisError is a table as redis.error_reply returns it, and redis.call raises it.
func (m *machine) redisError(text string) *lua.LTable {
	t := m.state.CreateTable(0, 1)
	t.RawSetString("err", lua.LString(text))
	return t
}

// failReply raises an error of Redis' own functions.
func (m *machine) failReply(L *lua.LState, text string) { m.raise(L, m.redisError("ERR "+text)) }

var tracePlace = regexp.MustCompile(`^\t([^\n\t:]+):(\d+): ?in `)

// raisedAt returns where an error was raised: in the function that raised it, or the one that has called that.
func raisedAt(err *lua.ApiError) (source, line string) {
	lines := strings.Split(err.StackTrace, "\n")
	for i := 1; i < len(lines) && i < 3; i++ {
		if at := tracePlace.FindStringSubmatch(lines[i]); at != nil {
			return at[1], at[2]
		}
	}
	return "", ""
}

// appendRaised appends the reply of a script that has raised an error.
func (m *machine) appendRaised(dst []byte, raised error) []byte {
	var err *lua.ApiError
	switch {
	case !errors.As(raised, &err), err.Type == lua.ApiErrorPanic && err.Object.String() != overflow:
		m.broken = true
		return resp.AppendError(dst, "ERR Error running script "+m.run.SHA+", execution failure")
	case err.Type == lua.ApiErrorPanic: // calls inside of each other: no pcall goes on
		m.broken = true
		err.Object = lua.LString("stack overflow")
		if source, line := raisedAt(err); source != "" {
			err.Object = lua.LString(source + ":" + line + ": stack overflow")
		}
	}
	source, line := raisedAt(err)
	text := m.errorText(err)
	if source != "" {
		text += " script: " + m.run.SHA + ", on @" + source + ":" + line + "."
	}
	return appendErrorText(dst, text)
}

// errorText is the text of an error that was raised, as a reply.
func (m *machine) errorText(err *lua.ApiError) string {
	t, ok := err.Object.(*lua.LTable)
	if !ok {
		return "ERR " + m.tostring(m.state, m.reword(err))
	}
	if s, ok := asText(t.RawGetString("err")); ok {
		return s
	}
	return "ERR unknown error" // of which Redis 7.0 dies
}

// raisedText is the text of what the code of a library has raised.
func (m *machine) raisedText(raised error) string {
	var err *lua.ApiError
	if !errors.As(raised, &err) || err.Type == lua.ApiErrorPanic {
		m.broken = true
		return "ERR execution failure"
	}
	return m.errorText(err)
}

// appendErrorText appends an error, on one line.
func appendErrorText(dst []byte, text string) []byte {
	text, _, _ = strings.Cut(text, "\x00")
	text = strings.TrimRight(text, "\r\n")
	return resp.AppendError(dst, strings.NewReplacer("\r", " ", "\n", " ").Replace(text))
}

// overflow is what gopher-lua panics with when its stack is full.
const overflow = "lua callstack overflow"

// asText is the text of a string or number, as lua_tostring.
func asText(v lua.LValue) (text string, ok bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return formatNumber(float64(v)), true
	}
	return "", false
}

// What gopher-lua says of values that do not fit, and what Lua does.
var rewordings = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`attempt to index a non-table object\((\w+)\) with key '(?s:.*)'$`), "attempt to index a $1 value"},
	{regexp.MustCompile(`attempt to compare (\w+) with (\w+)$`), "attempt to compare $1 with $2"},
	{regexp.MustCompile(`attempt to call a non-function object$`), "attempt to call a nil value"},
	{regexp.MustCompile(`cannot perform \w+ operation between (\w+) and (\w+)$`), "arithmetic $1 $2"},
	{regexp.MustCompile(`__unm undefined$`), "attempt to perform arithmetic on a nil value"},
	{regexp.MustCompile(`__len undefined$`), "attempt to get length of a nil value"},
	{regexp.MustCompile(`registry overflow$`), "stack overflow"},
}

// reword returns the value of an error, in the words of Lua if gopher-lua has raised it.
func (m *machine) reword(err *lua.ApiError) lua.LValue {
	text, ok := err.Object.(lua.LString)
	if !ok {
		return err.Object
	}
	for _, r := range rewordings {
		at := r.pattern.FindStringSubmatchIndex(string(text))
		if at == nil {
			continue
		}
		prefix := text[:at[0]]
		said := string(r.pattern.ExpandString(nil, r.as, string(text), at))
		if a, b, ok := compared(said); ok && a == b {
			said = "attempt to compare two " + a + " values"
		}
		if words := strings.Fields(said); words[0] == "arithmetic" {
			culprit := words[1]
			if culprit == "number" {
				culprit = words[2]
			}
			said = "attempt to perform arithmetic on a " + culprit + " value"
		}
		return prefix + lua.LString(said)
	}
	return text
}

func compared(said string) (a, b string, ok bool) {
	rest, ok := strings.CutPrefix(said, "attempt to compare ")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, " with ")
}
