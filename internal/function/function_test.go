package function

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMetadata(t *testing.T) {
	for _, c := range []struct{ code, name, body, problem string }{
		{"#!lua name=a\nx\ny", "a", "\nx\ny", ""},
		{"#!LUA NAME=a_1\n", "a_1", "\n", ""},
		{"#!lua name='a'\n", "a", "\n", ""},
		{"#!lua 'name=a b'\n", "", "", ErrName},
		{"#!lua name=\n", "", "", ErrName},
		{"lua", "", "", "ERR Missing library metadata"},
		{"#!lua name=a", "", "", "ERR Invalid library metadata"},
		{"#!lua \x00name=a\n", "", "", "ERR Invalid library metadata"},
		{"#!lua name=\"a\n", "", "", "ERR Invalid library metadata"},
		{"#!lua name=a name=b\n", "", "", "ERR Invalid metadata value, name argument was given multiple times"},
		{"#!lua x=y name=b\n", "", "", "ERR Invalid metadata value given: x=y"},
		{"#!\n", "", "", "ERR Library name was not given"},
		{"#!js name=a\n", "", "", "ERR Engine 'js' not found"},
		{"#! name=a\n", "", "", "ERR Engine '' not found"},
	} {
		name, body, problem := Metadata([]byte(c.code))
		require.Equal(t, []string{c.name, c.body, c.problem}, []string{name, string(body), problem}, c.code)
	}
}

var described = rapid.Custom(func(t *rapid.T) Function {
	f := Function{Name: rapid.String().Draw(t, "name"), Flags: Flags(rapid.Byte().Draw(t, "flags"))}
	if f.Described = rapid.Bool().Draw(t, "described"); f.Described {
		f.Description = rapid.String().Draw(t, "description")
	}
	return f
})

// TestLibrariesAreKept: what is encoded is decoded, and nothing that is cut off is a library.
func TestLibrariesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &Library{"a", rapid.SliceOf(rapid.Byte()).Draw(t, "code"), rapid.SliceOf(described).Draw(t, "functions")}
		kept := l.Encode()
		got, err := Decode("a", kept)
		require.NoError(t, err)
		require.Equal(t, string(l.Code), string(got.Code))
		require.ElementsMatch(t, l.Functions, got.Functions)
		description := AppendDescription(nil, l.Functions)
		_, _, err = ParseDescription(description[:rapid.IntRange(0, len(description)-1).Draw(t, "cut")])
		require.ErrorIs(t, err, ErrEncoding)
	})
}

func FuzzParseDescription(f *testing.F) {
	f.Add(AppendDescription(nil, []Function{{Name: "f", Description: "x", Described: true}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		functions, rest, err := ParseDescription(b)
		if err == nil {
			require.LessOrEqual(t, len(functions)+len(rest), len(b))
		}
	})
}

func lib(name string, functions ...string) *Library {
	l := &Library{Name: name, Code: []byte(name)}
	for _, f := range functions {
		l.Functions = append(l.Functions, Function{Name: f})
	}
	return l
}

func TestSet(t *testing.T) {
	var none *Set
	require.Nil(t, none.Library("a"))
	f, l := none.Function("f")
	require.True(t, f == nil && l == nil && none.Libraries() == nil)

	s, err := none.With(lib("b", "g"), lib("a", "f", "F", "h"))
	require.NoError(t, err)
	libraries, functions := s.Counts()
	require.Equal(t, []int{2, 4}, []int{libraries, functions})
	f, l = s.Function("F")
	require.Equal(t, []string{"f", "a"}, []string{f.Name, l.Name}, "the first one, in any case")
	require.Equal(t, "a", s.Libraries()[0].Name)
	require.Nil(t, s.Library("A"))

	_, err = s.With(lib("c", "G"))
	require.EqualError(t, err, "ERR Function G already exists")
	_, err = s.With(lib("b", "h"))
	require.EqualError(t, err, "ERR Function h already exists")
	_, err = s.With(lib("c", "x"), lib("c", "y"))
	require.EqualError(t, err, "ERR Library 'c' already exists")
	next, err := s.With(lib("b", "i"))
	require.NoError(t, err)
	f, _ = next.Function("g")
	require.Nil(t, f)
	f, _ = s.Function("g")
	require.NotNil(t, f, "a set never changes")
	require.Len(t, next.Without("b").Libraries(), 1)

	large := lib("large", "l")
	large.Code = []byte(strings.Repeat("x", MaxCode))
	_, err = none.With(large)
	require.NoError(t, err)
	_, err = s.With(large)
	require.ErrorContains(t, err, "at most 33554432 are allowed")
}

func TestFlags(t *testing.T) {
	flag, ok := Flag("ALLOW-oom")
	require.True(t, ok)
	require.Equal(t, []string{"no-writes", "allow-oom"}, (flag | NoWrites).Strings())
	_, ok = Flag("x")
	require.False(t, ok)
	require.True(t, ValidName("aZ_09"))
	for _, name := range []string{"", "a-", "ä", "a@", "a[", "a`", "a{", "a\x00"} {
		require.False(t, ValidName(name), name)
	}
}
