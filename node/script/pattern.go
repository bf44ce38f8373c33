package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxCaptures    = 32
	maxMatchDepth  = 200000 // as deep as a pattern may go back; Lua in C would overflow its stack
	openCapture    = -1
	positionOnly   = -2
	patternSpecial = "^$*+?.([%-"
)

// matcher matches a pattern of Lua 5.1, as lstrlib.c does.
type matcher struct {
	m        *machine
	L        *lua.LState
	src, pat string
	level    int
	depth    int
	capture  [maxCaptures]struct{ start, length int }
}

func (s *matcher) fail(text string) { s.m.fail(s.L, "%s", text) }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// class reports whether c is in a class, as %a.
func class(c, name byte) bool {
	var in bool
	switch name | 0x20 {
	case 'a':
		in = isAlpha(c)
	case 'c':
		in = c < 32 || c == 127
	case 'd':
		in = isDigit(c)
	case 'l':
		in = c >= 'a' && c <= 'z'
	case 'p':
		in = c > 32 && c < 127 && !isAlpha(c) && !isDigit(c)
	case 's':
		in = isSpace(c)
	case 'u':
		in = c >= 'A' && c <= 'Z'
	case 'w':
		in = isAlpha(c) || isDigit(c)
	case 'x':
		in = isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
	case 'z':
		in = c == 0
	default:
		return name == c
	}
	if !isAlpha(name) {
		return name == c
	}
	return in != (name >= 'A' && name <= 'Z')
}

// classEnd is where the single character of a pattern at p ends.
func (s *matcher) classEnd(p int) int {
	c := s.pat[p]
	p++
	switch c {
	case '%':
		if p >= len(s.pat) {
			s.fail("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		if p < len(s.pat) && s.pat[p] == '^' {
			p++
		}
		for first := true; first || p >= len(s.pat) || s.pat[p] != ']'; first = false {
			if p >= len(s.pat) {
				s.fail("malformed pattern (missing ']')")
			}
			c := s.pat[p]
			p++
			if c == '%' && p < len(s.pat) {
				p++
			}
		}
		return p + 1
	}
	return p
}

// inSet reports whether c is in the set from p, its "[", to end, its "]".
func (s *matcher) inSet(c byte, p, end int) bool {
	in := true
	p++
	if s.pat[p] == '^' {
		in = false
		p++
	}
	for ; p < end; p++ {
		switch {
		case s.pat[p] == '%' && p+1 < len(s.pat):
			p++
			if class(c, s.pat[p]) {
				return in
			}
		case p+2 < end && s.pat[p+1] == '-':
			if s.pat[p] <= c && c <= s.pat[p+2] {
				return in
			}
			p += 2
		case s.pat[p] == c:
			return in
		}
	}
	return !in
}

// single reports whether the character at i matches the one of the pattern from p to end.
func (s *matcher) single(i, p, end int) bool {
	if i >= len(s.src) {
		return false
	}
	switch c := s.src[i]; s.pat[p] {
	case '.':
		return true
	case '%':
		return class(c, s.pat[p+1])
	case '[':
		return s.inSet(c, p, end-1)
	default:
		return s.pat[p] == c
	}
}

// match matches the pattern from p at i and returns where the match ends, or -1.
func (s *matcher) match(i, p int) int {
	if s.depth++; s.depth > maxMatchDepth {
		s.fail("pattern too complex")
	}
	defer func() { s.depth-- }()
	for {
		s.m.work(1)
		if p == len(s.pat) {
			return i
		}
		switch s.pat[p] {
		case '(':
			if p+1 < len(s.pat) && s.pat[p+1] == ')' {
				return s.startCapture(i, p+2, positionOnly)
			}
			return s.startCapture(i, p+1, openCapture)
		case ')':
			return s.endCapture(i, p+1)
		case '$':
			if p+1 == len(s.pat) {
				if i == len(s.src) {
					return i
				}
				return -1
			}
		case '%':
			if p+1 < len(s.pat) {
				switch c := s.pat[p+1]; {
				case c == 'b':
					if i = s.balanced(i, p+2); i < 0 {
						return -1
					}
					p += 4
					continue
				case c == 'f':
					next, ok := s.frontier(i, p+2)
					if !ok {
						return -1
					}
					p = next
					continue
				case isDigit(c):
					if i = s.back(i, c); i < 0 {
						return -1
					}
					p += 2
					continue
				}
			}
		}
		end := s.classEnd(p)
		var repeat byte
		if end < len(s.pat) {
			repeat = s.pat[end]
		}
		switch repeat {
		case '?':
			if s.single(i, p, end) {
				if at := s.match(i+1, end+1); at >= 0 {
					return at
				}
			}
			p = end + 1
		case '*':
			return s.most(i, p, end)
		case '+':
			if !s.single(i, p, end) {
				return -1
			}
			return s.most(i+1, p, end)
		case '-':
			return s.least(i, p, end)
		default:
			if !s.single(i, p, end) {
				return -1
			}
			i, p = i+1, end
		}
	}
}

func (s *matcher) most(i, p, end int) int {
	n := 0
	for s.single(i+n, p, end) {
		n++
	}
	s.m.work(n >> 3)
	for ; n >= 0; n-- {
		if at := s.match(i+n, end+1); at >= 0 {
			return at
		}
	}
	return -1
}

func (s *matcher) least(i, p, end int) int {
	for {
		if at := s.match(i, end+1); at >= 0 {
			return at
		}
		if !s.single(i, p, end) {
			return -1
		}
		i++
	}
}

func (s *matcher) balanced(i, p int) int {
	if p+1 >= len(s.pat) {
		s.fail("unbalanced pattern")
	}
	if i >= len(s.src) || s.src[i] != s.pat[p] {
		return -1
	}
	open, shut, depth := s.pat[p], s.pat[p+1], 1
	for i++; i < len(s.src); i++ {
		switch c := s.src[i]; c {
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		case open:
			depth++
		}
	}
	return -1
}

func (s *matcher) frontier(i, p int) (next int, ok bool) {
	if p >= len(s.pat) || s.pat[p] != '[' {
		s.fail("missing '[' after '%f' in pattern")
	}
	end := s.classEnd(p)
	var before, here byte
	if i > 0 {
		before = s.src[i-1]
	}
	if i < len(s.src) {
		here = s.src[i]
	}
	return end, !s.inSet(before, p, end-1) && s.inSet(here, p, end-1)
}

func (s *matcher) back(i int, digit byte) int {
	n := int(digit) - '1'
	if n < 0 || n >= s.level || s.capture[n].length == openCapture {
		s.fail("invalid capture index")
	}
	text := s.src[s.capture[n].start:][:max(s.capture[n].length, 0)]
	if strings.HasPrefix(s.src[i:], text) {
		return i + len(text)
	}
	return -1
}

func (s *matcher) startCapture(i, p, kind int) int {
	if s.level >= maxCaptures {
		s.fail("too many captures")
	}
	s.capture[s.level].start, s.capture[s.level].length = i, kind
	s.level++
	at := s.match(i, p)
	if at < 0 {
		s.level--
	}
	return at
}

func (s *matcher) endCapture(i, p int) int {
	open := s.level - 1
	for open >= 0 && s.capture[open].length != openCapture {
		open--
	}
	if open < 0 {
		s.fail("invalid pattern capture")
	}
	s.capture[open].length = i - s.capture[open].start
	at := s.match(i, p)
	if at < 0 {
		s.capture[open].length = openCapture
	}
	return at
}

// value is a capture of a match from start to end: the whole match, if there are none.
func (s *matcher) value(n, start, end int) lua.LValue {
	if n >= s.level {
		if n != 0 {
			s.fail("invalid capture index")
		}
		return s.part(start, end)
	}
	switch c := s.capture[n]; c.length {
	case openCapture:
		s.fail("unfinished capture")
		return nil
	case positionOnly:
		return lua.LNumber(c.start + 1)
	default:
		return s.part(c.start, c.start+c.length)
	}
}

func (s *matcher) part(start, end int) lua.LValue {
	s.m.charge(stringSize)
	return lua.LString(s.src[start:end])
}

// push pushes all captures, and the whole match if there are none and whole is set.
func (s *matcher) push(start, end int, whole bool) int {
	n := s.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		s.L.Push(s.value(i, start, end))
	}
	return n
}

// again forgets the captures before another attempt.
func (s *matcher) again() { s.level, s.depth = 0, 0 }
