package scan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzGlob compares with a matcher that first writes down which bytes each element of
// the pattern takes, and then tries every way to lay them over the text.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"*", ""}, {"h?llo", "hello"}, {"h[^e]llo", "hallo"}, {"h[b-a]llo", "hallo"}, {`a\`, `a\`}, {`[\]]`, "]"}, {`[\`, `\`}, {"[^", "a"}, {"[a-", "-"},
		{"[]a]", "a]"}, {"*a*b*c", "xxaxxbxxc"}, {"a**b", "ab"}, {`\*[*]`, "**"}, {"[a-\\]]", "]"}, {"[^]", "x"}, {"*[", "["}, {"\x00[\x80-\xff]", "\x00\xfe"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, pattern, text []byte) {
		if len(pattern)*len(text) > 1<<16 {
			return
		}
		require.Equal(t, matchSlowly(elements(pattern), text), Match(pattern, text))
	})
}

// element is what one place of a pattern takes: any bytes, or one of some.
type element struct {
	star  bool
	bytes [256]bool
}

// elements takes a pattern apart, as Redis' stringmatchlen does.
func elements(p []byte) (list []element) {
	for len(p) > 0 {
		var e element
		switch {
		case p[0] == '*':
			e.star = true
		case p[0] == '?':
			e.add(0, 255)
		case p[0] == '[':
			p = e.class(p[1:])
			list = append(list, e)
			continue
		case p[0] == '\\' && len(p) > 1:
			p = p[1:]
			fallthrough
		default:
			e.add(p[0], p[0])
		}
		list, p = append(list, e), p[1:]
	}
	return list
}

func (e *element) add(low, high byte) {
	for c := int(low); c <= int(high); c++ {
		e.bytes[c] = true
	}
}

// class reads what stands behind a bracket and returns what follows the class.
func (e *element) class(p []byte) []byte {
	negated := len(p) > 0 && p[0] == '^'
	if negated {
		p = p[1:]
	}
	for len(p) > 0 && p[0] != ']' {
		switch {
		case p[0] == '\\' && len(p) >= 2:
			e.add(p[1], p[1])
			p = p[2:]
		case len(p) >= 3 && p[1] == '-':
			e.add(min(p[0], p[2]), max(p[0], p[2]))
			p = p[3:]
		default:
			e.add(p[0], p[0])
			p = p[1:]
		}
	}
	if negated {
		for c := range e.bytes {
			e.bytes[c] = !e.bytes[c]
		}
	}
	return p[min(1, len(p)):]
}

// matchSlowly keeps the set of prefixes of the text that the elements so far can be.
func matchSlowly(list []element, text []byte) bool {
	ends := make([]bool, len(text)+1)
	ends[0] = true
	for _, e := range list {
		next := make([]bool, len(ends))
		for i, possible := range ends {
			switch {
			case !possible:
			case e.star:
				for j := i; j < len(next); j++ {
					next[j] = true
				}
			case i < len(text) && e.bytes[text[i]]:
				next[i+1] = true
			}
		}
		ends = next
	}
	return ends[len(text)]
}
