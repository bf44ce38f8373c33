package script

import (
	"strings"

	"github.com/quolldb/quoll/internal/function"
	lua "github.com/yuin/gopher-lua"
)

// registerFunction is redis.register_function(name, callback), or with a table of named arguments.
func registerFunction(m *machine, L *lua.LState) int {
	if m.loading == nil {
		m.failReply(L, "redis.register_function can only be called on FUNCTION LOAD command")
	}
	var f function.Function
	var callback *lua.LFunction
	var wrong string
	switch L.GetTop() {
	case 1:
		f, callback, wrong = namedArguments(L.Get(1))
	case 2:
		f, callback, wrong = positionalArguments(L.Get(1), L.Get(2))
	default:
		wrong = "wrong number of arguments to redis.register_function"
	}
	switch {
	case wrong != "":
		m.failReply(L, wrong)
	case !function.ValidName(f.Name):
		m.raise(L, m.redisError(function.ErrName))
	case m.registered[f.Name] != nil:
		m.failReply(L, "Function already exists in the library")
	}
	m.charge(keySize + len(f.Name) + len(f.Description))
	m.registered[f.Name], m.described = callback, append(m.described, f)
	return 0
}

func positionalArguments(first, second lua.LValue) (f function.Function, callback *lua.LFunction, wrong string) {
	var ok bool
	if f.Name, ok = asText(first); !ok {
		return f, nil, "first argument to redis.register_function must be a string"
	}
	if callback, ok = second.(*lua.LFunction); !ok {
		return f, nil, "second argument to redis.register_function must be a function"
	}
	return f, callback, ""
}

// namedArguments reads a table. Of several things that are wrong with it Redis says any one.
func namedArguments(v lua.LValue) (f function.Function, callback *lua.LFunction, wrong string) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return f, nil, "calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments)."
	}
	named := false
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		key, ok := asText(k)
		if !ok {
			return f, nil, "named argument key given to redis.register_function is not a string"
		}
		switch strings.ToLower(key) {
		case "function_name":
			f.Name, ok = asText(v)
			named, wrong = true, "function_name argument given to redis.register_function must be a string"
		case "description":
			f.Description, ok = asText(v)
			f.Described, wrong = true, "description argument given to redis.register_function must be a string"
		case "callback":
			callback, ok = v.(*lua.LFunction)
			wrong = "callback argument given to redis.register_function must be a function"
		case "flags":
			f.Flags, ok, wrong = functionFlags(v)
		default:
			return f, nil, "unknown argument given to redis.register_function"
		}
		if !ok {
			return f, nil, wrong
		}
	}
	switch {
	case !named:
		return f, nil, "redis.register_function must get a function name argument"
	case callback == nil:
		return f, nil, "redis.register_function must get a callback argument"
	}
	return f, callback, ""
}

func functionFlags(v lua.LValue) (flags function.Flags, ok bool, wrong string) {
	t, ok := v.(*lua.LTable)
	if !ok {
		return 0, false, "flags argument to redis.register_function must be a table representing function flags"
	}
	for i := 1; t.RawGetInt(i) != lua.LNil; i++ {
		name, _ := asText(t.RawGetInt(i))
		flag, known := function.Flag(name)
		if !known {
			return 0, false, "unknown flag given"
		}
		flags |= flag
	}
	return flags, true, ""
}
