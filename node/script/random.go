package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// lrand48 is the generator of Redis' scripts, which is that of POSIX.
type lrand48 uint64

func (r *lrand48) seed(n int32) { *r = lrand48(uint64(uint32(n))<<16 | 0x330E) }

func (r *lrand48) next() int32 {
	*r = (*r*0x5DEECE66D + 0xB) & (1<<48 - 1)
	return int32(*r >> 17)
}

func mathRandom(m *machine, L *lua.LState) int {
	r := float64(m.random.next()%math.MaxInt32) / math.MaxInt32
	switch L.GetTop() {
	case 0:
		return push(L, lua.LNumber(r))
	case 1:
		high := int32(m.integer(L, 1))
		if high < 1 {
			m.argument(L, 1, "interval is empty")
		}
		return push(L, lua.LNumber(math.Floor(r*float64(high))+1))
	case 2:
		low, high := int32(m.integer(L, 1)), int32(m.integer(L, 2))
		if low > high {
			m.argument(L, 2, "interval is empty")
		}
		return push(L, lua.LNumber(math.Floor(r*float64(high-low+1))+float64(low)))
	}
	m.fail(L, "wrong number of arguments")
	return 0
}

func mathRandomSeed(m *machine, L *lua.LState) int {
	m.random.seed(int32(m.integer(L, 1)))
	return 0
}
