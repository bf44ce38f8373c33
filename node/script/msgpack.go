package script

import (
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxPackNesting   = 16 // what is deeper is nil
	maxUnpackNesting = 1000
)

func (m *machine) openMessagePack() {
	t := m.open("cmsgpack", map[string]builtin{
		"pack": packValues,
		"unpack": func(m *machine, L *lua.LState) int {
			return m.unpack(L, 0, 0)
		},
		"unpack_one": func(m *machine, L *lua.LState) int {
			return m.unpack(L, 1, m.optionalInteger(L, 2, 0))
		},
		"unpack_limit": func(m *machine, L *lua.LState) int {
			limit := m.integer(L, 2)
			return m.unpack(L, limit, m.optionalInteger(L, 3, 0))
		},
	})
	for name, text := range map[string]string{
		"_NAME": "cmsgpack", "_VERSION": "lua-cmsgpack 0.4.0", "_COPYRIGHT": "Copyright (C) 2012, Salvatore Sanfilippo", "_DESCRIPTION": "MessagePack C implementation for Lua",
	} {
		t.RawSetString(name, lua.LString(text))
	}
}

func packValues(m *machine, L *lua.LState) int {
	if L.GetTop() == 0 {
		m.argument(L, 0, "MessagePack pack needs input.")
	}
	var out []byte
	for i := 1; i <= L.GetTop(); i++ {
		out = m.pack(out, L.Get(i), 0)
	}
	return push(L, lua.LString(out))
}

func (m *machine) pack(out []byte, v lua.LValue, depth int) []byte {
	m.hold(9)
	switch v := v.(type) {
	case lua.LString:
		m.hold(len(v))
		out = packLength(out, len(v), 0xa0, 32, 0xd9)
		return append(out, v...)
	case lua.LBool:
		if v {
			return append(out, 0xc3)
		}
		return append(out, 0xc2)
	case lua.LNumber:
		return packNumber(out, float64(v))
	case *lua.LTable:
		if depth < maxPackNesting {
			return m.packTable(out, v, depth)
		}
	}
	return append(out, 0xc0)
}

// packLength appends the head of a text, list or map: in one byte if it is short, or by one of the codes for lengths of one (texts only), two and four bytes.
func packLength(out []byte, n int, short byte, below int, code byte) []byte {
	if code == 0xd9 {
		if n >= below && n <= math.MaxUint8 {
			return append(out, code, byte(n))
		}
		code++
	}
	switch {
	case n < below:
		return append(out, short|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(out, code), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(out, code+1), uint32(n))
}

func packNumber(out []byte, f float64) []byte {
	if n := toInteger(f); float64(n) == f && f != 1<<63 {
		return packInteger(out, n)
	}
	if float64(float32(f)) == f {
		return binary.BigEndian.AppendUint32(append(out, 0xca), math.Float32bits(float32(f)))
	}
	return binary.BigEndian.AppendUint64(append(out, 0xcb), math.Float64bits(f))
}

func packInteger(out []byte, n int64) []byte {
	switch {
	case n >= -32 && n <= 127:
		return append(out, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		return append(out, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(out, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(out, 0xce), uint32(n))
	case n >= 0:
		return binary.BigEndian.AppendUint64(append(out, 0xcf), uint64(n))
	case n >= math.MinInt8:
		return append(out, 0xd0, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(out, 0xd1), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(out, 0xd2), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(out, 0xd3), uint64(n))
}

// packTable appends a list if the keys are 1, 2, 3, ..., or else a map.
func (m *machine) packTable(out []byte, t *lua.LTable, depth int) []byte {
	count, most, isList := 0, lua.LNumber(0), true
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		count++
		n, ok := k.(lua.LNumber)
		if isList = isList && ok && n > 0 && lua.LNumber(int64(n)) == n; isList {
			most = max(most, n)
		}
	}
	m.work(count)
	if isList && int(most) == count {
		out = packLength(out, count, 0x90, 16, 0xdc)
		for i := 1; i <= count; i++ {
			out = m.pack(out, t.RawGet(lua.LNumber(i)), depth+1)
		}
		return out
	}
	out = packLength(out, count, 0x80, 16, 0xde)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		out = m.pack(out, k, depth+1)
		out = m.pack(out, v, depth+1)
	}
	return out
}

// unpacker reads MessagePack.
type unpacker struct {
	m     *machine
	L     *lua.LState
	rest  string
	depth int
}

// unpack returns so many values from an offset, after the offset of the next one, or, without both, all of them.
func (m *machine) unpack(L *lua.LState, limit, offset int) int {
	data := m.text(L, 1)
	if offset < 0 || limit < 0 {
		m.fail(L, "Invalid request to unpack with offset of %d and limit of %d.", offset, len(data))
	}
	if offset > len(data) {
		m.fail(L, "Start offset %d greater than input length %d.", offset, len(data))
	}
	all := limit == 0 && offset == 0
	u := &unpacker{m: m, L: L, rest: data[offset:]}
	var values []lua.LValue
	for u.rest != "" && (all || limit == 0 || len(values) < limit) {
		if values = append(values, u.next()); len(values) > maxValues {
			m.fail(L, "too many results to unpack")
		}
	}
	if all {
		return pushAll(L, values)
	}
	next := len(data) - len(u.rest)
	if u.rest == "" {
		next = -1
	}
	return push(L, lua.LNumber(next)) + pushAll(L, values)
}

// take takes n bytes.
func (u *unpacker) take(n int) string {
	if n > len(u.rest) {
		u.m.fail(u.L, "Missing bytes in input.")
	}
	b := u.rest[:n]
	u.rest = u.rest[n:]
	return b
}

func (u *unpacker) uint(size int) (n uint64) {
	b := u.take(size)
	for i := range len(b) {
		n = n<<8 | uint64(b[i])
	}
	return n
}

func (u *unpacker) next() lua.LValue {
	u.m.charge(stringSize)
	u.m.work(1)
	switch c := u.take(1)[0]; {
	case c < 0x80:
		return lua.LNumber(c)
	case c >= 0xe0:
		return lua.LNumber(int8(c))
	case c < 0x90:
		return u.entries(int(c & 15))
	case c < 0xa0:
		return u.list(int(c & 15))
	case c < 0xc0:
		return u.text(int(c & 31))
	default:
		return u.coded(c)
	}
}

func (u *unpacker) coded(c byte) lua.LValue {
	switch c {
	case 0xc0:
		return lua.LNil
	case 0xc2, 0xc3:
		return lua.LBool(c == 0xc3)
	case 0xca:
		return lua.LNumber(math.Float32frombits(uint32(u.uint(4))))
	case 0xcb:
		return lua.LNumber(math.Float64frombits(u.uint(8)))
	case 0xcc, 0xcd, 0xce, 0xcf:
		return lua.LNumber(u.uint(1 << (c - 0xcc)))
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := 1 << (c - 0xd0)
		by := 64 - 8*size
		return lua.LNumber(int64(u.uint(size)<<by) >> by)
	case 0xd9, 0xda, 0xdb:
		return u.text(int(u.uint(1 << (c - 0xd9))))
	case 0xdc, 0xdd:
		return u.list(int(u.uint(2 << (c - 0xdc))))
	case 0xde, 0xdf:
		return u.entries(int(u.uint(2 << (c - 0xde))))
	}
	u.m.fail(u.L, "Bad data format in input.")
	return nil
}

func (u *unpacker) text(n int) lua.LValue { return lua.LString(u.take(n)) }

func (u *unpacker) enter() {
	if u.depth++; u.depth > maxUnpackNesting {
		u.m.fail(u.L, "Bad data format in input.")
	}
	u.m.hold(tableSize)
}

func (u *unpacker) list(n int) lua.LValue {
	u.enter()
	t := u.L.CreateTable(min(n, len(u.rest)), 0)
	u.m.hold(min(n, len(u.rest)) * entrySize)
	for i := range n {
		if v := u.next(); v != lua.LNil {
			u.m.rawset(u.L, t, lua.LNumber(i+1), v)
		}
	}
	u.depth--
	return t
}

func (u *unpacker) entries(n int) lua.LValue {
	u.enter()
	t := u.L.CreateTable(0, 0)
	for range n {
		k := u.next()
		v := u.next()
		u.m.hold(keySize)
		u.m.rawset(u.L, t, k, v)
	}
	u.depth--
	return t
}
