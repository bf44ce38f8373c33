package change

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func set(name, rules string) UserRules { return UserRules{[]byte(name), []byte(rules)} }

func TestUsersAreChanged(t *testing.T) {
	d := first(t, 3, 3)
	plain := d.Encode()
	one := do(t, d, Entry{By: "p1", Users: &Users{Set: []UserRules{set("bob", "on"), set("al\xffice", "off")}}})
	require.Equal(t, []User{{"al\xffice", "off", 2}, {"bob", "on", 2}}, one.Users)
	require.Equal(t, "sets user bob, sets user al?ice", one.History[0].What)
	two := do(t, one, Entry{By: "p1", Users: &Users{Seen: 2, Set: []UserRules{set("bob", "on ~a")}}})
	require.Equal(t, User{"bob", "on ~a", 2}, two.Users[1], "it is the same user")
	require.NotContains(t, two.History[1].What, "~a")
	gone := do(t, two, Entry{Users: &Users{Seen: 3, Delete: [][]byte{[]byte("bob")}}})
	require.Len(t, gone.Users, 1)
	back := do(t, gone, Entry{Users: &Users{Seen: 4, Set: []UserRules{set("bob", "on")}}})
	require.Equal(t, uint64(5), back.Users[1].Since, "it is another one of that name")
	none := do(t, gone, Entry{Users: &Users{Seen: 4, Delete: [][]byte{[]byte("al\xffice")}}})
	paused := do(t, back, Entry{Pause: &Pause{}})

	for _, next := range []Document{one, two, gone, back, none, paused} {
		whole, err := Decode(next.Encode())
		require.NoError(t, err)
		require.Equal(t, len(next.Users), len(whole.Users))
		require.Equal(t, next.Digest(), whole.Digest())
		delta, err := d.Update(next.Since(d.Version))
		require.NoError(t, err)
		require.Equal(t, next.Digest(), delta.Digest())
	}
	require.Less(t, len(paused.Since(back.Version)), len(paused.Since(back.Version-1)), "users travel when they change only")
	later, err := back.Update(paused.Since(back.Version))
	require.NoError(t, err)
	require.Equal(t, back.Users, later.Users)
	require.Equal(t, plain, d.Encode(), "a ring without is as rings were before")
}

func TestUsersAreBounded(t *testing.T) {
	d := do(t, first(t, 3, 3), Entry{Users: &Users{Set: []UserRules{set("a", "on")}}})
	for want, c := range map[error]Users{
		ErrUsersStale: {Seen: 1, Set: []UserRules{set("a", "off")}},
		ErrImpossible: {Seen: 2},
		ErrUserSize:   {Seen: 2, Set: []UserRules{set("a", strings.Repeat("x", MaxUserRules+1))}},
	} {
		_, err := Apply(d, Entry{Users: &c}, 1)
		require.ErrorIs(t, err, want)
	}
	_, err := Apply(d, Entry{Users: &Users{Seen: 2, Set: []UserRules{set(strings.Repeat("n", MaxUserName+1), "")}}}, 1)
	require.ErrorIs(t, err, ErrUserSize)
	for i := range MaxUsers/MaxUserRules + 1 {
		next, err := Apply(d, Entry{Users: &Users{Seen: d.UsersAt, Set: []UserRules{set(string(rune('a'+i)), strings.Repeat("x", MaxUserRules))}}}, 1)
		if err != nil {
			require.ErrorIs(t, err, ErrUserSize)
			require.Equal(t, MaxUsers/MaxUserRules-1, i)
			whole, err := Decode(d.Encode())
			require.NoError(t, err)
			require.Equal(t, d.Digest(), whole.Digest())
			return
		}
		d = next
	}
	t.Fatal("users are not bounded")
}
