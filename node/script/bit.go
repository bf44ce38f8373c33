package script

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (m *machine) openBit() {
	fold := func(f func(a, b uint32) uint32) builtin {
		return func(m *machine, L *lua.LState) int {
			n := m.bits(L, 1)
			for i := 2; i <= L.GetTop(); i++ {
				n = f(n, m.bits(L, i))
			}
			return pushBits(L, n)
		}
	}
	single := func(f func(a uint32) uint32) builtin {
		return func(m *machine, L *lua.LState) int { return pushBits(L, f(m.bits(L, 1))) }
	}
	shift := func(f func(a uint32, by int) uint32) builtin {
		return func(m *machine, L *lua.LState) int {
			return pushBits(L, f(m.bits(L, 1), int(m.bits(L, 2)&31)))
		}
	}
	m.open("bit", map[string]builtin{
		"band":    fold(func(a, b uint32) uint32 { return a & b }),
		"bor":     fold(func(a, b uint32) uint32 { return a | b }),
		"bxor":    fold(func(a, b uint32) uint32 { return a ^ b }),
		"tobit":   single(func(a uint32) uint32 { return a }),
		"bnot":    single(func(a uint32) uint32 { return ^a }),
		"bswap":   single(bits.ReverseBytes32),
		"lshift":  shift(func(a uint32, by int) uint32 { return a << by }),
		"rshift":  shift(func(a uint32, by int) uint32 { return a >> by }),
		"arshift": shift(func(a uint32, by int) uint32 { return uint32(int32(a) >> by) }),
		"rol":     shift(bits.RotateLeft32),
		"ror":     shift(func(a uint32, by int) uint32 { return bits.RotateLeft32(a, -by) }),
		"tohex":   bitToHex,
	})
}

// bits is a number modulo 2^32, rounded as the library in C does: by what adding 2^52 + 2^51 leaves in the low bits.
func (m *machine) bits(L *lua.LState, i int) uint32 {
	return uint32(math.Float64bits(m.number(L, i) + 6755399441055744))
}

func pushBits(L *lua.LState, n uint32) int { return push(L, lua.LNumber(int32(n))) }

func bitToHex(m *machine, L *lua.LState) int {
	n, digits := m.bits(L, 1), int32(8)
	if L.Get(2) != lua.LNil {
		digits = int32(m.bits(L, 2))
	}
	upper := digits < 0
	if upper {
		digits = -max(digits, -math.MaxInt32)
	}
	digits = min(digits, 8)
	text := fmt.Sprintf("%08x", n)[8-digits:]
	if upper {
		text = strings.ToUpper(text)
	}
	return push(L, lua.LString(text))
}
