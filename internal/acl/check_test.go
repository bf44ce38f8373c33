package acl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
)

func must(t testing.TB, words string) *User {
	u, err := New("u").With(strings.Split(words, " "))
	require.NoError(t, err)
	return u
}

func check(u *User, line string) (Denial, int) {
	var args [][]byte
	for _, word := range strings.Split(line, " ") {
		args = append(args, []byte(word))
	}
	return u.Check(command.Lookup(args[0]).Called(args), args)
}

func TestCheckSaysWhatIsDenied(t *testing.T) {
	for _, c := range []struct {
		rules, command string
		denial         Denial
		at             int
	}{
		{"+@all ~* &*", "set a 1", Allowed, 0},
		{"+get ~a*", "get ab", Allowed, 0},
		{"+get ~a*", "get b", DeniedKey, 1},
		{"+get ~a*", "set ab 1", DeniedCommand, 0},
		{"+mget ~a*", "mget a1 a2 b a3", DeniedKey, 3},
		{"+@all %R~a", "get a", Allowed, 0},
		{"+@all %R~a", "set a 1", DeniedKey, 1},
		{"+@all %W~a", "set a 1", Allowed, 0},
		{"+@all %W~a", "set a 1 get", DeniedKey, 1},
		{"+@all %R~a %W~b", "copy a b", Allowed, 0},
		{"+@all %R~a %W~b", "copy b a", DeniedKey, 1},
		{"+@all %R~a %W~b", "sort a store b", Allowed, 0},
		{"+@all %R~a %W~b", "sort a store c", DeniedKey, 3},
		{"+@all ~a &news*", "publish news1 x", Allowed, 0},
		{"+@all ~a &news*", "publish other x", DeniedChannel, 1},
		{"+@all &news*", "subscribe news1 news2 other", DeniedChannel, 3},
		{"+@all &news*", "psubscribe news*", Allowed, 0},
		{"+@all &news*", "psubscribe news1", DeniedChannel, 1},
		{"+@all", "unsubscribe other", Allowed, 0},
		{"+config|get", "config get x", Allowed, 0},
		{"+config|get", "config set x y", DeniedCommand, 0},
		{"+select|0", "select 0", Allowed, 0},
		{"+select|0", "select 1", DeniedCommand, 0},
		{"-@all", "auth x", Allowed, 0},
		{"+get ~a (+set ~b)", "set b 1", Allowed, 0},
		{"+get ~a (+set ~b)", "set a 1", DeniedKey, 1},
		{"+eval ~a", "eval x 1 b", DeniedKey, 3},
		{"+eval ~a", "eval x 9 b", Allowed, 0}, // it is no command, and who executes it says so
	} {
		denial, at := check(must(t, c.rules), c.command)
		require.Equal(t, c.denial, denial, "%s: %s", c.rules, c.command)
		require.Equal(t, c.at, at, "%s: %s", c.rules, c.command)
	}
}

func TestUnrestrictedIsOneFlag(t *testing.T) {
	require.True(t, NewDefault("").Unrestricted())
	require.True(t, must(t, "-@all (+@all ~* &*)").Unrestricted())
	for _, rules := range []string{"+@all ~*", "+@all &*", "~* &*", "+@all ~* &* -get", "+@all (~* &*)"} {
		require.False(t, must(t, rules).Unrestricted(), rules)
	}
}

func TestPasswords(t *testing.T) {
	u := must(t, "on >one >two")
	require.True(t, u.Accepts([]byte("one")))
	require.True(t, u.Accepts([]byte("two")))
	require.False(t, u.Accepts([]byte("three")))
	require.False(t, must(t, ">one").Accepts([]byte("one")), "it is off")
	require.True(t, must(t, "on nopass").Accepts([]byte("anything")))
	require.False(t, must(t, "on").Accepts(nil), "it has no password, and none will do")
	require.NotContains(t, u.Rules()+u.Stored(), "one")
	next, err := u.With([]string{"<one"})
	require.NoError(t, err)
	require.False(t, next.Accepts([]byte("one")))
	require.True(t, u.Accepts([]byte("one")), "a user does not change")
}

func TestLosesChannels(t *testing.T) {
	for _, c := range []struct {
		before, after string
		loses         bool
	}{
		{"&*", "&*", false}, {"&*", "&a", true}, {"&a", "&*", false}, {"&a &b", "&b &a &c", false}, {"&a &b", "&a", true}, {"resetchannels", "resetchannels", false}, {"&a", "(&a)", false},
	} {
		require.Equal(t, c.loses, must(t, c.before).LosesChannels(must(t, c.after)), "%s: %s", c.before, c.after)
	}
}

func TestReadsAllKeys(t *testing.T) {
	args := [][]byte{[]byte("SORT"), []byte("a")}
	sort := command.Lookup(args[0])
	for rules, reads := range map[string]bool{"+@all ~*": true, "+@all %R~*": true, "+@all %W~* %R~a": false, "+@all %RW~*": true, "+@all ~a": false, "+sort ~a (+@all %RW~*)": true, "+sort ~a (+get ~*)": false} {
		require.Equal(t, reads, must(t, rules).ReadsAllKeys(sort, args), rules)
	}
}

// FuzzRules: whatever the words are there is an error, or a user that what is stored of it makes again.
func FuzzRules(f *testing.F) {
	for _, words := range []string{"on >pw +@all ~* &*", "(~a\"b +get) (+select|0", "%R~a %w~b +config|get -@dangerous", "reset nopass (~a'b &c\\d)", "+@read -get +@string"} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := New("u").With(strings.Split(text, " "))
		if err != nil {
			return
		}
		again, err := New("u").With(strings.Split(u.Stored(), " "))
		require.NoError(t, err, u.Stored())
		require.Equal(t, u, again, u.Stored())
		all, err := ParseFile("users.acl", FormatFile(NewUsers(NewDefault(""), u)), NewDefault(""))
		require.NoError(t, err)
		require.Equal(t, u, all.Get([]byte("u")))
		_, _ = check(u, "set a 1 get")
	})
}

// BenchmarkCheck says what the check of a GET costs: of a user that may do everything, of one with ten patterns of which the last one matches, and with one pattern.
func BenchmarkCheck(b *testing.B) {
	patterns := ""
	for i := range 9 {
		patterns += fmt.Sprintf(" ~app%d:*", i)
	}
	args := [][]byte{[]byte("GET"), []byte("user:1000")}
	get := command.Lookup(args[0])
	for name, u := range map[string]*User{
		"unrestricted": NewDefault(""), "one pattern": must(b, "+@all -@dangerous ~user:*"), "ten patterns": must(b, "+@all -@dangerous"+patterns+" ~user:*"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !u.Unrestricted() {
					if denial, _ := u.Check(get, args); denial != Allowed {
						b.Fatal(denial)
					}
				}
			}
		})
	}
}
