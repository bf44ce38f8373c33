package acl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseFile(t *testing.T) {
	fallback := NewDefault("secret")
	all, err := ParseFile("users.acl", "\n  user alice on >pw ~a* +get  +set \r\nuser bob off (+get ~x) -@all\n\n", fallback)
	require.NoError(t, err)
	require.Len(t, all.List(), 3)
	require.Same(t, fallback, all.Default())
	require.True(t, all.Get([]byte("alice")).Accepts([]byte("pw")))
	require.Equal(t, []string{"off"}, all.Get([]byte("bob")).Flags())

	again, err := ParseFile("users.acl", FormatFile(all), nil)
	require.NoError(t, err)
	require.Equal(t, all, again)
}

func TestParseFileNamesTheLines(t *testing.T) {
	for text, want := range map[string]string{
		"nonsense":                       "f:1 should start with user keyword followed by the username. ",
		"user":                           "f:1 should start with user keyword followed by the username. ",
		"user a on\nuser a on":           "WARNING: Duplicate user 'a' found on line 2. ",
		"user a\tb on":                   "'f:1: username 'a\tb' contains invalid characters. ",
		"\nuser a +nonsense +@nowhere":   "f:2: Error in applying operation '+nonsense': Unknown command or category name in ACL. f:2: Error in applying operation '+@nowhere': Unknown command or category name in ACL. ",
		"user a nonsense alsononsense":   "f:1: Syntax error. ",
		"user a (+get ~a\nuser b !short": "f:1: Unmatched parenthesis in selector definition.f:2: The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters. ",
	} {
		_, err := ParseFile("f", text, NewDefault(""))
		require.ErrorIs(t, err, ErrFile, text)
		require.EqualError(t, err, want+ErrFile.Error())
	}
}

func TestUsers(t *testing.T) {
	a, b := New("a"), New("b")
	all := NewUsers(b, NewDefault(""), a)
	require.Equal(t, []*User{a, b, all.Default()}, all.List())
	rest, removed := all.Without([]string{"a", "nobody"})
	require.Equal(t, 1, removed)
	require.Nil(t, rest.Get([]byte("a")))
	require.Nil(t, rest.Of(a))
	require.Same(t, b, rest.Of(b))

	later := New("a")
	later.Life = 7
	rest = rest.With(later)
	require.Nil(t, rest.Of(a), "it is another one of that name")
	require.Same(t, later, rest.Of(later))
	require.Same(t, a, all.Get([]byte("a")), "users do not change")
}

func TestLogGroupsWhatIsTheSame(t *testing.T) {
	var l Log
	l.SetLength(3)
	denied := Entry{Reason: DeniedKey, Context: "toplevel", Object: "k", User: "u", At: 1000, Client: "first"}
	l.Add(denied)
	later := denied
	later.At, later.Client = 61_000, "last"
	l.Add(later)
	require.Equal(t, []Entry{{Count: 2, Reason: DeniedKey, Context: "toplevel", Object: "k", User: "u", At: 61_000, Client: "last"}}, l.Latest(10))

	later.At += 60_001
	l.Add(later)
	require.Len(t, l.Latest(10), 2, "that is too long ago")
	for _, object := range []string{"x", "y"} {
		later.Object = object
		l.Add(later)
	}
	require.Len(t, l.Latest(10), 3)
	require.Equal(t, "y", l.Latest(1)[0].Object)
	l.SetLength(1)
	require.Len(t, l.Latest(10), 1)
	l.Reset()
	require.Empty(t, l.Latest(10))
}
