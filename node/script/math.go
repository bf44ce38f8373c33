package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

func (m *machine) openMath() {
	functions := map[string]builtin{
		"random": mathRandom, "randomseed": mathRandomSeed, "max": mathMax, "min": mathMin, "modf": mathModf, "frexp": mathFrexp,
		"ldexp": func(m *machine, L *lua.LState) int {
			return push(L, lua.LNumber(math.Ldexp(m.number(L, 1), m.integer(L, 2))))
		},
	}
	for name, f := range map[string]func(float64) float64{
		"abs": math.Abs, "acos": math.Acos, "asin": math.Asin, "atan": math.Atan, "ceil": math.Ceil, "cos": math.Cos, "cosh": math.Cosh,
		"deg": func(x float64) float64 { return x / (math.Pi / 180) }, "exp": math.Exp, "floor": math.Floor, "log": math.Log, "log10": math.Log10,
		"rad": func(x float64) float64 { return x * (math.Pi / 180) }, "sin": math.Sin, "sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan,
		"tanh": math.Tanh,
	} {
		functions[name] = func(m *machine, L *lua.LState) int { return push(L, lua.LNumber(f(m.number(L, 1)))) }
	}
	for name, f := range map[string]func(x, y float64) float64{"atan2": math.Atan2, "fmod": math.Mod, "mod": math.Mod, "pow": math.Pow} {
		functions[name] = func(m *machine, L *lua.LState) int {
			return push(L, lua.LNumber(f(m.number(L, 1), m.number(L, 2))))
		}
	}
	t := m.open("math", functions)
	t.RawSetString("pi", lua.LNumber(math.Pi))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
}

func mathMax(m *machine, L *lua.LState) int {
	most := m.number(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if f := m.number(L, i); f > most {
			most = f
		}
	}
	return push(L, lua.LNumber(most))
}

func mathMin(m *machine, L *lua.LState) int {
	least := m.number(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if f := m.number(L, i); f < least {
			least = f
		}
	}
	return push(L, lua.LNumber(least))
}

func mathModf(m *machine, L *lua.LState) int {
	f := m.number(L, 1)
	whole := math.Trunc(f)
	L.Push(lua.LNumber(whole))
	if math.IsInf(f, 0) {
		return 1 + push(L, lua.LNumber(0))
	}
	return 1 + push(L, lua.LNumber(f-whole))
}

func mathFrexp(m *machine, L *lua.LState) int {
	fraction, exponent := math.Frexp(m.number(L, 1))
	L.Push(lua.LNumber(fraction))
	return 1 + push(L, lua.LNumber(exponent))
}
