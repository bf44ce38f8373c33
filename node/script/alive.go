package script

import (
	"reflect"
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// Where tables keep what gopher-lua does not show: their arrays, and their keys, which grow only, for it does not forget those whose values are gone.
var arrayAt, keysAt = offsetOf("array"), offsetOf("keys")

func offsetOf(name string) uintptr {
	f, ok := reflect.TypeFor[lua.LTable]().FieldByName(name)
	if !ok || f.Type != reflect.TypeFor[[]lua.LValue]() {
		panic("script: gopher-lua's tables have no field " + name)
	}
	return f.Offset
}

func sliceOf(t *lua.LTable, at uintptr) []lua.LValue {
	return *(*[]lua.LValue)(unsafe.Add(unsafe.Pointer(t), at))
}

// arrayLength is how many elements a table has room for in order, nil or not.
func arrayLength(t *lua.LTable) int { return len(sliceOf(t, arrayAt)) }

// counter adds up what is alive.
type counter struct {
	m     *machine
	seen  map[any]struct{}
	texts map[*byte]struct{}
	todo  []lua.LValue
	bytes int64
}

// alive returns how many bytes the values take that the script can still reach.
func (m *machine) alive() int64 {
	c := &counter{m: m, seen: make(map[any]struct{}), texts: make(map[*byte]struct{})}
	c.add(m.globals.RawGetString("KEYS"))
	c.add(m.globals.RawGetString("ARGV"))
	for _, f := range m.registered {
		c.add(f)
	}
	c.stack(m.state)
	if running := m.state.G.CurrentThread; running != nil {
		c.add(running)
	}
	for len(c.todo) > 0 {
		v := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		c.look(v)
	}
	return c.bytes
}

func (c *counter) add(v lua.LValue) {
	switch v := v.(type) {
	case lua.LString:
		c.text(string(v))
	case *lua.LTable:
		if !c.m.isReadonly(v) {
			c.once(v)
		}
	case *lua.LFunction, *lua.LState, *lua.LUserData:
		c.once(v)
	}
}

func (c *counter) once(v lua.LValue) {
	if _, ok := c.seen[v]; !ok {
		c.seen[v] = struct{}{}
		c.todo = append(c.todo, v)
	}
}

// text counts a string: its bytes once, wherever it is referred to.
func (c *counter) text(s string) {
	c.bytes += stringSize
	if len(s) < 64 {
		c.bytes += int64(len(s))
		return
	}
	if _, ok := c.texts[unsafe.StringData(s)]; !ok {
		c.texts[unsafe.StringData(s)] = struct{}{}
		c.bytes += int64(len(s))
	}
}

func (c *counter) look(v lua.LValue) {
	switch v := v.(type) {
	case *lua.LTable:
		c.bytes += tableSize + int64(cap(sliceOf(v, keysAt)))*keySize + int64(cap(sliceOf(v, arrayAt)))*entrySize
		c.add(v.Metatable)
		v.ForEach(func(key, value lua.LValue) {
			c.add(key)
			c.add(value)
		})
	case *lua.LFunction:
		c.bytes += tableSize
		for _, up := range v.Upvalues {
			c.add(up.Value())
		}
	case *lua.LState:
		c.bytes += threadSize
		c.stack(v)
		if v.Parent != nil {
			c.add(v.Parent)
		}
	}
}

// stack adds what the functions hold that a thread is in.
func (c *counter) stack(L *lua.LState) {
	for level := 0; ; level++ {
		frame, ok := L.GetStack(level)
		if !ok {
			return
		}
		for i := 1; ; i++ {
			name, v := L.GetLocal(frame, i)
			if name == "" {
				break
			}
			c.add(v)
		}
	}
}
