package script

import (
	"encoding/binary"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// layout reads a format of the struct library.
type layout struct {
	m      *machine
	L      *lua.LState
	rest   string
	little bool
	align  int
}

func (m *machine) openStruct() {
	m.open("struct", map[string]builtin{"pack": structPack, "unpack": structUnpack, "size": structSize})
}

func (m *machine) layout(L *lua.LState) *layout {
	return &layout{m: m, L: L, rest: m.text(L, 1), little: true, align: 1}
}

// number reads the digits of an option, or returns otherwise.
func (f *layout) number(otherwise int) int {
	n, found := 0, false
	for f.rest != "" && isDigit(f.rest[0]) {
		d := int(f.rest[0] - '0')
		if n > (math.MaxInt32-d)/10 {
			f.m.fail(f.L, "integral size overflow")
		}
		n, found, f.rest = n*10+d, true, f.rest[1:]
	}
	if !found {
		return otherwise
	}
	return n
}

// next reads an option, its size, and how many bytes are to be passed over before it at a position.
func (f *layout) next(at int) (option byte, size, gap int) {
	option = f.rest[0]
	f.rest = f.rest[1:]
	switch option {
	case 'B', 'b', 'x':
		size = 1
	case 'H', 'h':
		size = 2
	case 'L', 'l', 'T', 'd':
		size = 8
	case 'f':
		size = 4
	case 'c':
		size = f.number(1)
	case 'i', 'I':
		if size = f.number(4); size > 32 {
			f.m.fail(f.L, "integral size %d is larger than limit of %d", size, 32)
		}
	}
	if size != 0 && option != 'c' {
		if to := min(size, f.align); to > 1 {
			gap = (to - at&(to-1)) & (to - 1)
		}
	}
	return option, size, gap
}

// control is an option that says how to go on.
func (f *layout) control(option byte) {
	switch option {
	case ' ':
	case '>':
		f.little = false
	case '<':
		f.little = true
	case '!':
		n := f.number(8)
		if n == 0 || n&(n-1) != 0 {
			f.m.fail(f.L, "alignment %d is not a power of 2", n)
		}
		f.align = n
	default:
		f.m.argument(f.L, 1, "invalid format option '"+string([]byte{option})+"'")
	}
}

func structPack(m *machine, L *lua.LState) int {
	f := m.layout(L)
	L.Push(lua.LNil)
	var out []byte
	arg := 2
	for f.rest != "" {
		option, size, gap := f.next(len(out))
		m.hold(size + gap)
		out = append(out, make([]byte, gap)...)
		switch option {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			out = f.appendInteger(out, m.number(L, arg), size)
			arg++
		case 'x':
			out = append(out, 0)
		case 'f':
			out = f.appendBits(out, uint64(math.Float32bits(float32(m.number(L, arg)))), 4)
			arg++
		case 'd':
			out = f.appendBits(out, math.Float64bits(m.number(L, arg)), 8)
			arg++
		case 'c', 's':
			text := m.text(L, arg)
			if size == 0 {
				size = len(text)
			}
			arg++
			if len(text) < size {
				m.argument(L, arg, "string too short")
			}
			m.hold(size)
			if out = append(out, text[:size]...); option == 's' {
				out = append(out, 0)
			}
		default:
			f.control(option)
		}
	}
	return push(L, lua.LString(out))
}

func (f *layout) appendInteger(out []byte, n float64, size int) []byte {
	return f.appendBits(out, unsigned(n), size)
}

// appendBits appends an integer of any size; what is longer than eight bytes is filled with zeros, as the library in C does.
func (f *layout) appendBits(out []byte, n uint64, size int) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	from := len(out)
	for i := range size {
		c := byte(0)
		if i < 8 {
			c = b[i]
		}
		out = append(out, c)
	}
	if !f.little {
		for i, j := from, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}

func structUnpack(m *machine, L *lua.LState) int {
	f, data := m.layout(L), m.text(L, 2)
	at := m.optionalInteger(L, 3, 1) - 1
	if at < 0 {
		m.argument(L, 3, "offset must be 1 or greater")
	}
	var values []lua.LValue
	for f.rest != "" {
		option, size, gap := f.next(at)
		at += gap
		if at > len(data) || size > len(data)-at {
			m.argument(L, 2, "data string too short")
		}
		m.charge(stringSize)
		switch part := data[at : at+size]; option {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			values = append(values, f.integer(part, option >= 'a'))
		case 'x':
		case 'f':
			values = append(values, lua.LNumber(math.Float32frombits(uint32(f.bits(part)))))
		case 'd':
			values = append(values, lua.LNumber(math.Float64frombits(f.bits(part))))
		case 'c':
			if size == 0 {
				size, values = f.previous(values, len(data)-at)
			}
			values = append(values, lua.LString(data[at:at+size]))
		case 's':
			text, _, found := strings.Cut(data[at:], "\x00")
			if !found {
				m.fail(L, "unfinished string in data")
			}
			size = len(text) + 1
			values = append(values, lua.LString(text))
		default:
			f.control(option)
		}
		at += size
		if len(values) > maxValues {
			m.fail(L, "too many results to unpack")
		}
	}
	return pushAll(L, values) + push(L, lua.LNumber(at+1))
}

// previous takes the length of c0 from the value before it.
func (f *layout) previous(values []lua.LValue, most int) (size int, rest []lua.LValue) {
	if len(values) == 0 {
		f.m.fail(f.L, "format 'c0' needs a previous size")
	}
	n, ok := values[len(values)-1].(lua.LNumber)
	if !ok {
		f.m.fail(f.L, "format 'c0' needs a previous size")
	}
	if n < 0 || float64(n) > float64(most) {
		f.m.argument(f.L, 2, "data string too short")
	}
	return int(n), values[:len(values)-1]
}

func (f *layout) bits(b string) (n uint64) {
	for i := range len(b) {
		c := b[i]
		if f.little {
			c = b[len(b)-1-i]
		}
		n = n<<8 | uint64(c)
	}
	return n
}

func (f *layout) integer(b string, signed bool) lua.LNumber {
	n := f.bits(b)
	if !signed {
		return lua.LNumber(n)
	}
	if by := 64 - 8*len(b); by > 0 {
		return lua.LNumber(int64(n<<by) >> by)
	}
	return lua.LNumber(int64(n))
}

func structSize(m *machine, L *lua.LState) int {
	f := m.layout(L)
	at := 0
	for f.rest != "" {
		option, size, gap := f.next(at)
		at += gap + size
		switch {
		case option == 's':
			m.argument(L, 1, "option 's' has no fixed size")
		case option == 'c' && size == 0:
			m.argument(L, 1, "option 'c0' has no fixed size")
		case size == 0 && !strings.ContainsRune("iI", rune(option)):
			f.control(option)
		}
	}
	return push(L, lua.LNumber(at))
}
