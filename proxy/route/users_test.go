package route

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring/change"
)

// TestUsersAreKnownBeforeTheRing: nothing is executed before it is known who may do what. Later ones follow their ring.
func TestUsersAreKnownBeforeTheRing(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := newCoordinator(t, patient, "127.0.0.1:1") // where nobody tells it of a ring
	var before []bool
	c.ListenUsers(func(Users) { before = append(before, c.ring.Load() == nil) })
	require.True(t, c.take(f.document, nil))
	next := f.document
	next.Version, next.UsersAt, next.Users = 2, 2, []change.User{{Name: "alice", Rules: "on"}}
	require.True(t, c.take(next, nil))
	require.False(t, c.take(f.document, nil), "no news")
	require.Equal(t, []bool{true, false}, before)
	require.EqualValues(t, 2, c.usersAt())
}
