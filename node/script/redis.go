package script

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Which Redis scripts are told that this is.
const (
	version       = "7.0.15"
	versionNumber = 7<<16 | 0<<8 | 15
)

func (m *machine) openRedis() {
	t := m.open("redis", map[string]builtin{
		"call":               func(m *machine, L *lua.LState) int { return m.call(L, true) },
		"pcall":              func(m *machine, L *lua.LState) int { return m.call(L, false) },
		"error_reply":        errorReply,
		"status_reply":       statusReply,
		"sha1hex":            sha1hex,
		"log":                log,
		"setresp":            setRESP,
		"set_repl":           setRepl,
		"acl_check_cmd":      aclCheck,
		"replicate_commands": func(_ *machine, L *lua.LState) int { return push(L, lua.LTrue) },
		"breakpoint":         func(_ *machine, L *lua.LState) int { return push(L, lua.LFalse) },
		"debug":              func(*machine, *lua.LState) int { return 0 },
	})
	t.RawSetString("REDIS_VERSION", lua.LString(version))
	t.RawSetString("REDIS_VERSION_NUM", lua.LNumber(versionNumber))
	for i, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.RawSetString(name, lua.LNumber(i))
	}
	for name, n := range map[string]int{"REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2, "REPL_REPLICA": 2, "REPL_ALL": 3} {
		t.RawSetString(name, lua.LNumber(n))
	}
}

func push(L *lua.LState, v lua.LValue) int {
	L.Push(v)
	return 1
}

// arguments are those of a command. What is wrong with them is a text.
func (m *machine) arguments(L *lua.LState) (args [][]byte, wrong string) {
	n := L.GetTop()
	if n == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	args = m.args[:0]
	for i := 1; i <= n; i++ {
		switch v := L.Get(i).(type) {
		case lua.LString:
			args = append(args, []byte(v))
		case lua.LNumber:
			args = append(args, appendG(nil, float64(v), 17))
		default:
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	m.args = args
	return args, ""
}

// call is redis.call, which raises errors, and redis.pcall, which returns them.
func (m *machine) call(L *lua.LState, raise bool) int {
	args, wrong := m.arguments(L)
	if wrong != "" {
		if raise {
			m.raise(L, m.redisError(wrong))
		}
		return push(L, m.redisError(wrong))
	}
	reply := m.run.Call(args, m.resp3)
	v := m.value(L, reply)
	if raise && len(reply) > 0 && reply[0] == '-' {
		m.raise(L, v)
	}
	return push(L, v)
}

const wrongArguments = "wrong number or type of arguments"

// one returns the only argument, if it is a text, or the reply that says that it is not.
func (m *machine) one(L *lua.LState) (text string, wrong lua.LValue) {
	if s, ok := L.Get(1).(lua.LString); ok && L.GetTop() == 1 {
		return string(s), nil
	}
	return "", m.redisError("ERR " + wrongArguments)
}

func errorReply(m *machine, L *lua.LState) int {
	text, wrong := m.one(L)
	if wrong != nil {
		return push(L, wrong)
	}
	text, _, _ = strings.Cut(text, "\x00")
	text = strings.TrimPrefix(text, "-")
	code, message, ok := strings.Cut(text, " ")
	if !ok {
		code, message = "ERR", text
	}
	return push(L, m.redisError(code+" "+strings.Trim(message, "\r\n")))
}

func statusReply(m *machine, L *lua.LState) int {
	text, wrong := m.one(L)
	if wrong != nil {
		return push(L, wrong)
	}
	t := L.CreateTable(0, 1)
	t.RawSetString("ok", lua.LString(text))
	return push(L, t)
}

func sha1hex(m *machine, L *lua.LState) int {
	if L.GetTop() != 1 {
		m.failReply(L, "wrong number of arguments")
	}
	text, _ := asText(L.Get(1))
	sum := sha1.Sum([]byte(text))
	return push(L, lua.LString(hex.EncodeToString(sum[:])))
}

func log(m *machine, L *lua.LState) int {
	n := L.GetTop()
	if n < 2 {
		m.failReply(L, "redis.log() requires two arguments or more.")
	}
	f, ok := asNumber(L.Get(1))
	if !ok {
		m.failReply(L, "First argument must be a number (log level).")
	}
	level := toInteger(f)
	if level < 0 || level > 3 {
		m.failReply(L, "Invalid debug level.")
	}
	if m.run.Log == nil {
		return 0
	}
	var parts []string
	for i := 2; i <= n; i++ {
		if text, ok := asText(L.Get(i)); ok {
			parts = append(parts, text)
		}
	}
	m.run.Log(int(level), strings.Join(parts, " "))
	return 0
}

func setRESP(m *machine, L *lua.LState) int {
	if L.GetTop() != 1 {
		m.failReply(L, "redis.setresp() requires one argument.")
	}
	f, _ := asNumber(L.Get(1))
	n := toInteger(f)
	if n != 2 && n != 3 {
		m.failReply(L, "RESP version must be 2 or 3.")
	}
	m.resp3 = n == 3
	return 0
}

// setRepl does nothing: what a script writes is always replicated.
func setRepl(m *machine, L *lua.LState) int {
	if L.GetTop() != 1 {
		m.failReply(L, "redis.set_repl() requires two arguments.")
	}
	f, _ := asNumber(L.Get(1))
	if toInteger(f)&^3 != 0 {
		m.failReply(L, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return 0
}

func aclCheck(m *machine, L *lua.LState) int {
	args, wrong := m.arguments(L)
	if wrong != "" {
		m.raise(L, m.redisError(wrong))
	}
	if m.run.Allowed == nil {
		return push(L, lua.LTrue)
	}
	known, allowed := m.run.Allowed(args)
	if !known {
		m.failReply(L, "Invalid command passed to redis.acl_check_cmd()")
	}
	return push(L, lua.LBool(allowed))
}
