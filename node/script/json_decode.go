package script

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

func jsonDecode(m *machine, L *lua.LState) int {
	if L.GetTop() != 1 {
		m.argument(L, 1, "expected 1 argument")
	}
	d := &jsonDecoder{m: m, L: L, src: m.text(L, 1)}
	if len(d.src) >= 2 && (d.src[0] == 0 || d.src[1] == 0) {
		m.fail(L, "JSON parser does not support UTF-16 or UTF-32")
	}
	d.next()
	v := d.value()
	if d.next(); d.kind != "T_END" {
		d.expected("the end")
	}
	return push(L, v)
}

// jsonDecoder reads JSON, token by token.
type jsonDecoder struct {
	m     *machine
	L     *lua.LState
	src   string
	at    int
	depth int
	// The token: its kind as errors call it, where it begins, and its value, or what is wrong with it.
	kind  string
	start int
	v     lua.LValue
	wrong string
}

func (d *jsonDecoder) expected(what string) {
	found := d.kind
	if d.kind == "T_ERROR" {
		found = d.wrong
	}
	d.m.fail(d.L, "Expected %s but found %s at character %d", what, found, d.start+1)
}

func (d *jsonDecoder) bad(wrong string) {
	d.kind, d.wrong = "T_ERROR", wrong
}

func (d *jsonDecoder) set(kind string, v lua.LValue, length int) {
	d.kind, d.v = kind, v
	d.at += length
}

// next reads the next token.
func (d *jsonDecoder) next() {
	d.m.work(1)
	for d.at < len(d.src) && strings.IndexByte(" \t\n\r", d.src[d.at]) >= 0 {
		d.at++
	}
	d.start = d.at
	if d.at >= len(d.src) || d.src[d.at] == 0 {
		d.kind = "T_END"
		return
	}
	rest := d.src[d.at:]
	switch c := rest[0]; {
	case strings.IndexByte("{}[]:,", c) >= 0:
		d.set([]string{"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_COLON", "T_COMMA"}[strings.IndexByte("{}[]:,", c)], nil, 1)
	case c == '"':
		d.text()
	case c == '-' || isDigit(c):
		if !d.m.decodeInvalid && isInvalidNumber(rest) {
			d.bad("invalid number")
			return
		}
		d.number(rest)
	case strings.HasPrefix(rest, "true"):
		d.set("T_BOOLEAN", lua.LTrue, 4)
	case strings.HasPrefix(rest, "false"):
		d.set("T_BOOLEAN", lua.LFalse, 5)
	case strings.HasPrefix(rest, "null"):
		d.set("T_NULL", d.m.null, 4)
	case d.m.decodeInvalid && strings.IndexByte("+iInN", c) >= 0 && isInvalidNumber(rest):
		d.number(rest)
	default:
		d.bad("invalid token")
	}
}

// isInvalidNumber reports whether a number is none of JSON, though one of C.
func isInvalidNumber(s string) bool {
	if s[0] == '+' {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if s == "" {
		return false
	}
	if s[0] == '0' {
		return len(s) > 1 && (s[1]|0x20 == 'x' || isDigit(s[1]))
	}
	return len(s) >= 3 && (strings.EqualFold(s[:3], "inf") || strings.EqualFold(s[:3], "nan"))
}

// number reads as much as C's strtod would.
func (d *jsonDecoder) number(s string) {
	n := numberLength(s)
	for ; n > 0; n-- {
		if f, ok := parseNumber(s[:n]); ok {
			d.set("T_NUMBER", lua.LNumber(f), n)
			return
		}
		if f, err := strconv.ParseFloat(s[:n], 64); err == nil { // inf and nan
			if math.IsNaN(f) && s[0] == '-' {
				f = math.Copysign(f, -1)
			}
			d.set("T_NUMBER", lua.LNumber(f), n)
			return
		}
	}
	d.bad("invalid number")
}

func numberLength(s string) int {
	n := 0
	for n < len(s) && n < 400 && (isAlpha(s[n]) || isDigit(s[n]) || strings.IndexByte("+-.", s[n]) >= 0) {
		n++
	}
	return n
}

func (d *jsonDecoder) text() {
	var out []byte
	i := d.at + 1
	for plain := i; ; i++ {
		if i >= len(d.src) || d.src[i] == 0 {
			d.start = i
			d.bad("unexpected end of string")
			return
		}
		c := d.src[i]
		if c != '\\' && c != '"' {
			continue
		}
		out = append(out, d.src[plain:i]...)
		if c == '"' {
			break
		}
		if i+1 >= len(d.src) {
			d.start = i
			d.bad("invalid escape code")
			return
		}
		n := 2
		if at := strings.IndexByte(`"\/bfnrt`, d.src[i+1]); at >= 0 {
			out = append(out, "\"\\/\b\f\n\r\t"[at])
		} else if r, length := unicodeEscape(d.src[i:]); d.src[i+1] == 'u' && length > 0 {
			out = utf8.AppendRune(out, r)
			n = length
		} else {
			d.start = i
			if d.src[i+1] == 'u' {
				d.bad("invalid unicode escape code")
			} else {
				d.bad("invalid escape code")
			}
			return
		}
		i += n - 1
		plain = i + 1
	}
	d.m.hold(stringSize + len(out))
	d.set("T_STRING", lua.LString(out), i+1-d.at)
}

// unicodeEscape reads \uXXXX, or two of them that are one letter, and returns how long it is, or 0.
func unicodeEscape(s string) (r rune, length int) {
	unit := func(s string) (n rune, ok bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		for _, c := range []byte(s[2:6]) {
			x := digit(c)
			if x > 15 {
				return 0, false
			}
			n = n<<4 | rune(x)
		}
		return n, true
	}
	high, ok := unit(s)
	switch {
	case !ok, high&0xFC00 == 0xDC00:
		return 0, 0
	case high&0xF800 != 0xD800:
		return high, 6
	}
	low, ok := unit(s[6:])
	if !ok || low&0xFC00 != 0xDC00 {
		return 0, 0
	}
	return 0x10000 + high&0x3FF<<10 + low&0x3FF, 12
}

// value is the value that begins with the current token.
func (d *jsonDecoder) value() lua.LValue {
	switch d.kind {
	case "T_STRING", "T_NUMBER", "T_BOOLEAN", "T_NULL":
		return d.v
	case "T_OBJ_BEGIN":
		return d.object()
	case "T_ARR_BEGIN":
		return d.array()
	}
	d.expected("value")
	return nil
}

func (d *jsonDecoder) enter() *lua.LTable {
	if d.depth++; d.depth > d.m.decodeDepth || d.depth > 4000 {
		d.m.fail(d.L, "Found too many nested data structures (%d) at character %d", d.depth, d.at)
	}
	d.m.hold(tableSize)
	return d.L.CreateTable(0, 0)
}

func (d *jsonDecoder) object() lua.LValue {
	t := d.enter()
	if d.next(); d.kind == "T_OBJ_END" {
		d.depth--
		return t
	}
	for {
		if d.kind != "T_STRING" {
			d.expected("object key string")
		}
		key := d.v
		if d.next(); d.kind != "T_COLON" {
			d.expected("colon")
		}
		d.next()
		d.m.hold(keySize)
		d.m.rawset(d.L, t, key, d.value())
		switch d.next(); d.kind {
		case "T_OBJ_END":
			d.depth--
			return t
		case "T_COMMA":
		default:
			d.expected("comma or object end")
		}
		d.next()
	}
}

func (d *jsonDecoder) array() lua.LValue {
	t := d.enter()
	if d.next(); d.kind == "T_ARR_END" {
		d.depth--
		return t
	}
	for i := 1; ; i++ {
		d.m.hold(entrySize)
		d.m.rawset(d.L, t, lua.LNumber(i), d.value())
		switch d.next(); d.kind {
		case "T_ARR_END":
			d.depth--
			return t
		case "T_COMMA":
		default:
			d.expected("comma or array end")
		}
		d.next()
	}
}
