package scan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"*", "", true}, {"**", "anything", true}, {"", "", true}, {"", "a", false}, {"a", "", false},
		{"h?llo", "hello", true}, {"h?llo", "hllo", false}, {"h*llo", "heeeello", true}, {"h*llo", "hll", false},
		{"h[ae]llo", "hallo", true}, {"h[ae]llo", "hillo", false}, {"h[^e]llo", "hallo", true}, {"h[^e]llo", "hello", false},
		{"h[a-b]llo", "hbllo", true}, {"h[b-a]llo", "hallo", true}, {"h[a-b]llo", "hcllo", false},
		{`h\*llo`, "h*llo", true}, {`h\*llo`, "hello", false}, {`a\`, `a\`, true}, {`[\]]`, "]", true}, {`[\`, `\`, true},
		{"[", "a", false}, {"[^", "a", true}, {"[abc", "b", true}, {"[a-]", "-", false}, {"[a-", "-", true}, {"[]a]", "a]", false},
		{"*a*b*c", "xxaxxbxxc", true}, {"*a*b*c", "xxaxxcxxb", false}, {"user:*:name", "user:17:name", true},
		{"a*[0-9]", "abc7", true}, {"HELLO", "hello", false},
	} {
		require.Equal(t, c.want, Match([]byte(c.pattern), []byte(c.s)), "%q ~ %q", c.pattern, c.s)
	}
}

// TestGlobIsNotExponential would not end with a matcher that tries every star.
func TestGlobIsNotExponential(t *testing.T) {
	require.False(t, Match([]byte(strings.Repeat("a*", 1000)+"b"), []byte(strings.Repeat("a", 10_000))))
}

// TestGlobStarMatchesAnything compares with a naive matcher of * and ?.
func TestGlobStarMatchesAnything(t *testing.T) {
	var naive func(p, s string) bool
	naive = func(p, s string) bool {
		switch {
		case p == "":
			return s == ""
		case p[0] == '*':
			return naive(p[1:], s) || s != "" && naive(p, s[1:])
		}
		return s != "" && (p[0] == '?' || p[0] == s[0]) && naive(p[1:], s[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.RuneFrom([]rune("ab*?")), 0, 8, -1).Draw(t, "pattern")
		s := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 10, -1).Draw(t, "s")
		if naive(pattern, s) != Match([]byte(pattern), []byte(s)) {
			t.Fatalf("%q ~ %q", pattern, s)
		}
	})
}
