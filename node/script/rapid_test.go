package script

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/redistest"
)

// scripts draws scripts of which every expression is defined: numbers, texts, tables, functions, closures, errors that are caught, commands. There are no negative
// constants, for a -0 that Lua in C computes while it compiles is what each 0 of the script is then.
type scripts struct {
	t     *rapid.T
	depth int
}

func (s *scripts) pick(options ...string) string {
	return rapid.SampledFrom(options).Draw(s.t, "option")
}

func (s *scripts) number() string {
	if s.depth++; s.depth > 6 {
		s.depth--
		return s.pick("0", "1", "2.5", "7", "1e15", "'3'", "0x1f", "#KEYS")
	}
	defer func() { s.depth-- }()
	switch rapid.IntRange(0, 9).Draw(s.t, "number") {
	case 0:
		return fmt.Sprintf("(%s %s %s)", s.number(), s.pick("+", "-", "*"), s.number())
	case 1:
		return fmt.Sprintf("(%s %s %s)", s.number(), s.pick("/", "%"), s.pick("3", "4", "0.5"))
	case 2:
		return fmt.Sprintf("#%s", s.text())
	case 3:
		return fmt.Sprintf("math.%s(%s, %s)", s.pick("max", "min"), s.number(), s.number())
	case 4:
		return fmt.Sprintf("math.%s(%s)", s.pick("floor", "ceil", "abs"), s.number())
	case 5:
		return fmt.Sprintf("(function(a, ...) return a + select('#', ...) end)(%s, %s, %s)", s.number(), s.text(), s.number())
	case 6:
		return fmt.Sprintf("redis.call('INCRBY', KEYS[1], %d)", rapid.IntRange(-5, 5).Draw(s.t, "by"))
	case 7:
		return fmt.Sprintf("bit.%s(%d, %d)", s.pick("band", "bor", "bxor", "lshift", "rshift"), rapid.Int32().Draw(s.t, "a"), rapid.Uint8().Draw(s.t, "b"))
	case 8:
		return fmt.Sprintf("({%s, %s, x = %s})[%s]", s.number(), s.number(), s.number(), s.pick("1", "2", "'x'"))
	}
	return s.pick("1", "2", "0.5", "100", "2^53", "1/3", "ARGV[2]")
}

// positive is a number without the sign of -0, which gopher-lua loses.
func (s *scripts) positive() string { return "(" + s.number() + " + 0)" }

func (s *scripts) text() string {
	if s.depth++; s.depth > 6 {
		s.depth--
		return s.pick("''", "'a'", "'b c'", "ARGV[1]", "KEYS[2]")
	}
	defer func() { s.depth-- }()
	switch rapid.IntRange(0, 9).Draw(s.t, "text") {
	case 0:
		return fmt.Sprintf("(%s .. %s .. %s)", s.text(), s.text(), s.text())
	case 1:
		return fmt.Sprintf("(%s .. '')", s.positive())
	case 2:
		return fmt.Sprintf("tostring(%s)", s.positive())
	case 3:
		return fmt.Sprintf("string.format('%%%s|%%s', %s, %s)", s.pick("d", "5.2f", "g", "x", ".14g", "-8d", "+e"), s.positive(), s.text())
	case 4:
		return fmt.Sprintf("(string.gsub(%s, '%s', '%s'))", s.text(), s.pick("%w", "a*", "[^a]", "(.)(.)", "%s+", "^."), s.pick("x", "%0%0", "", "-"))
	case 5:
		return fmt.Sprintf("string.sub(%s, %d, %d)", s.text(), rapid.IntRange(-4, 4).Draw(s.t, "from"), rapid.IntRange(-4, 4).Draw(s.t, "to"))
	case 6:
		return fmt.Sprintf("cjson.encode({%s, {a = %s}})", s.text(), s.text())
	case 7:
		return fmt.Sprintf("table.concat({%s, %s}, %s)", s.text(), s.positive(), s.text())
	case 8:
		return fmt.Sprintf("tostring(select(2, pcall(function() error(%s, 0) end)))", s.text())
	}
	return fmt.Sprintf("string.%s(%s)", s.pick("upper", "lower", "reverse"), s.text())
}

func (s *scripts) value() string {
	if s.depth++; s.depth > 5 {
		s.depth--
		return s.positive()
	}
	defer func() { s.depth-- }()
	switch rapid.IntRange(0, 6).Draw(s.t, "value") {
	case 0:
		return fmt.Sprintf("{%s, %s, %s}", s.value(), s.value(), s.value())
	case 1:
		return s.pick("true", "false", "nil", "{ok='x'}", "{err='E x'}", "{double=2.5}", "{big_number='12'}", "{map={a=1}}", "{set={b=true}}", "cjson.null")
	case 2, 3:
		return s.text()
	}
	return s.positive()
}

// statement draws one that works on the locals x, y and t, which a function of the script uses, too.
func (s *scripts) statement(deep int) string {
	switch n := rapid.IntRange(0, 9).Draw(s.t, "statement"); {
	case n == 0:
		return fmt.Sprintf("x = %s", s.positive())
	case n == 1:
		return fmt.Sprintf("x, y = %s, x", s.positive())
	case n == 2:
		return "bump()"
	case n == 3:
		return fmt.Sprintf("t[#t + 1] = %s", s.text())
	case n == 4:
		return fmt.Sprintf("t.%s = %s", s.pick("a", "b"), s.positive())
	case n == 5:
		return "pcall(function() bump() local z = nil return z.x end)"
	case n == 6 && deep > 0:
		return fmt.Sprintf("for i = 1, %d do %s end", rapid.IntRange(0, 3).Draw(s.t, "times"), s.block(deep-1))
	case n == 7 && deep > 0:
		return fmt.Sprintf("if tonumber(x) %s 3 then %s else %s end", s.pick("<", ">", "==", "~=", "<=", ">="), s.block(deep-1), s.block(deep-1))
	case n == 8 && deep > 0:
		return fmt.Sprintf("local _ = (function() %s end)()", s.block(deep-1))
	}
	return "table.insert(t, 1, 'f')"
}

func (s *scripts) block(deep int) string {
	var lines []string
	for range rapid.IntRange(0, 4).Draw(s.t, "lines") {
		lines = append(lines, s.statement(deep))
	}
	return strings.Join(lines, " ")
}

// TestScriptsAsRedis runs scripts of this generator on both.
func TestScriptsAsRedis(t *testing.T) {
	address := redistest.Start(t)
	pairs := []*pair{newPair(t, address, false), newPair(t, address, true)}
	rapid.Check(t, func(t *rapid.T) {
		s := &scripts{t: t}
		script := "local x, y, t = 1, 2, {}; local function bump() x = tonumber(x) + 1; y = tostring(x) .. tostring(y) end " + s.block(3) +
			" return {tostring(x), tostring(y), t, tostring(t.a), tostring(t.b), " + s.value() + "}"
		want, got := pairs[rapid.IntRange(0, 1).Draw(t, "protocol")].both(script)
		if want != got {
			t.Fatalf("%s\n  Redis: %q\n  here:  %q", script, want, got)
		}
	})
}
