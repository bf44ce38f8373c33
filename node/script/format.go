package script

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// spec is a conversion of string.format, between % and its letter.
type spec struct {
	minus, plus, space, alternate, zero bool
	width, precision                    int // -1 is none
}

// readSpec reads a conversion that begins at i and returns where its letter is.
func (m *machine) readSpec(L *lua.LState, format string, i int) (s spec, at int) {
	s.precision = -1
	from := i
	for ; i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0; i++ {
		switch format[i] {
		case '-':
			s.minus = true
		case '+':
			s.plus = true
		case ' ':
			s.space = true
		case '#':
			s.alternate = true
		case '0':
			s.zero = true
		}
	}
	if i-from > 5 {
		m.fail(L, "invalid format (repeated flags)")
	}
	digits := func() (n int) {
		for d := 0; d < 2 && i < len(format) && isDigit(format[i]); d++ {
			n = n*10 + int(format[i]-'0')
			i++
		}
		return n
	}
	s.width = digits()
	if i < len(format) && format[i] == '.' {
		i++
		s.precision = digits()
	}
	if i < len(format) && isDigit(format[i]) {
		m.fail(L, "invalid format (width or precision too long)")
	}
	return s, i
}

// pad appends a text with a sign or prefix, as wide as it is to be.
func (s spec) pad(dst []byte, prefix, text string, zeros bool) []byte {
	fill := s.width - len(prefix) - len(text)
	switch {
	case fill <= 0:
		dst = append(dst, prefix...)
		return append(dst, text...)
	case s.minus:
		dst = append(dst, prefix...)
		dst = append(dst, text...)
		return append(dst, strings.Repeat(" ", fill)...)
	case s.zero && zeros:
		dst = append(dst, prefix...)
		dst = append(dst, strings.Repeat("0", fill)...)
		return append(dst, text...)
	}
	dst = append(dst, strings.Repeat(" ", fill)...)
	dst = append(dst, prefix...)
	return append(dst, text...)
}

func (s spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.plus:
		return "+"
	case s.space:
		return " "
	}
	return ""
}

func (s spec) integer(dst []byte, letter byte, f float64) []byte {
	n := toInteger(f)
	var prefix, digits string
	switch letter {
	case 'd', 'i':
		prefix = s.sign(n < 0)
		digits = strconv.FormatUint(magnitude(n), 10)
	case 'u':
		digits = strconv.FormatUint(unsigned(f), 10)
	case 'o':
		if digits = strconv.FormatUint(unsigned(f), 8); s.alternate && digits[0] != '0' {
			digits = "0" + digits
		}
	default:
		u := unsigned(f)
		if digits = strconv.FormatUint(u, 16); s.alternate && u != 0 {
			prefix = "0x"
		}
		if letter == 'X' {
			digits, prefix = strings.ToUpper(digits), strings.ToUpper(prefix)
		}
	}
	if s.precision == 0 && digits == "0" {
		digits = ""
	}
	if fill := s.precision - len(digits); fill > 0 {
		digits = strings.Repeat("0", fill) + digits
	}
	return s.pad(dst, prefix, digits, s.precision < 0)
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// unsigned is a number as C's unsigned one on x86.
func unsigned(f float64) uint64 {
	if f >= 1<<63 {
		if f < 1<<64 {
			return uint64(f-(1<<63)) ^ 1<<63
		}
		return 0
	}
	return uint64(toInteger(f))
}

func (s spec) float(dst []byte, letter byte, f float64) []byte {
	negative := math.Signbit(f)
	prefix, lower := s.sign(negative), letter|0x20
	var text string
	switch {
	case math.IsNaN(f):
		text = "nan"
	case math.IsInf(f, 0):
		text = "inf"
	default:
		precision := s.precision
		if precision < 0 {
			precision = 6
		}
		if lower == 'g' {
			precision = max(precision, 1)
		}
		text = strconv.FormatFloat(math.Abs(f), lower, precision, 64)
		if s.alternate {
			text = alternate(text, lower, precision)
		}
	}
	if letter < 'a' {
		text = strings.ToUpper(text)
	}
	return s.pad(dst, prefix, text, !math.IsNaN(f) && !math.IsInf(f, 0))
}

// alternate is what # does: a point always, and the zeros that %g leaves out.
func alternate(text string, letter byte, precision int) string {
	mantissa, exponent, _ := strings.Cut(text, "e")
	if exponent != "" {
		exponent = "e" + exponent
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	if letter == 'g' {
		digits := len(strings.TrimLeft(strings.Replace(mantissa, ".", "", 1), "0"))
		mantissa += strings.Repeat("0", max(precision-max(digits, 1), 0))
	}
	return mantissa + exponent
}

func stringFormat(m *machine, L *lua.LState) int {
	format := m.text(L, 1)
	var out []byte
	arg := 1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out = append(out, format[i])
			continue
		}
		if i++; i < len(format) && format[i] == '%' {
			out = append(out, '%')
			continue
		}
		if arg++; arg > L.GetTop() {
			m.argument(L, arg, "no value")
		}
		s, at := m.readSpec(L, format, i)
		before := len(out)
		out = m.convert(L, out, s, format, at, arg)
		m.hold(len(out) - before)
		i = at
	}
	m.hold(stringSize + len(format))
	return push(L, lua.LString(out))
}

// convert appends an argument by the letter at a position of the format.
func (m *machine) convert(L *lua.LState, out []byte, s spec, format string, at, arg int) []byte {
	var letter byte
	if at < len(format) {
		letter = format[at]
	}
	switch letter {
	case 'c':
		return s.pad(out, "", string([]byte{byte(m.integer(L, arg))}), false)
	case 'd', 'i', 'o', 'u', 'x', 'X':
		return s.integer(out, letter, m.number(L, arg))
	case 'e', 'E', 'f', 'g', 'G':
		return s.float(out, letter, m.number(L, arg))
	case 'q':
		return appendQuoted(out, m.text(L, arg))
	case 's':
		text := m.text(L, arg)
		if s.precision >= 0 || len(text) < 100 {
			text, _, _ = strings.Cut(text, "\x00") // sprintf ends there
		}
		if s.precision >= 0 {
			text = text[:min(len(text), s.precision)]
		}
		m.hold(len(text))
		return s.pad(out, "", text, false)
	}
	found := ""
	if letter != 0 {
		found = string([]byte{letter})
	}
	m.fail(L, "invalid option '%%%s' to 'format'", found)
	return nil
}

// appendQuoted appends a text as a script would write it.
func appendQuoted(out []byte, text string) []byte {
	out = append(out, '"')
	for i := range len(text) {
		switch c := text[i]; c {
		case '"', '\\', '\n':
			out = append(out, '\\', c)
		case '\r':
			out = append(out, `\r`...)
		case 0:
			out = append(out, `\000`...)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
