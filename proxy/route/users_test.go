package route

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

// TestUsersAreKnownBeforeTheRing: nothing is executed before it is known who may do what. Later ones follow their ring.
func TestUsersAreKnownBeforeTheRing(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	for _, n := range f.nodes {
		n.props.Store(&protocol.Properties{State: "forming"})
	}
	c := newCoordinator(t, patient, f.nodes[0].address())
	type heard struct {
		at       uint64
		ringless bool
	}
	users := make(chan heard, 10)
	c.ListenUsers(func(u Users) { users <- heard{u.At, c.ring.Load() == nil} })
	next := func() heard {
		eventually(t, func() bool { return len(users) > 0 }, "users are heard of")
		return <-users
	}
	for _, n := range f.nodes {
		n.vote(f.document)
	}
	f.awaitUp(c, 3)
	require.Equal(t, heard{f.document.UsersAt, true}, next())

	later := apply(t, f.document, change.Entry{Users: &change.Users{Set: []change.UserRules{{Name: []byte("alice"), Rules: []byte("on")}}}})
	f.nodes[0].vote(later)
	f.nodes[0].push(newsOf(later))
	require.Equal(t, heard{2, false}, next())
	require.EqualValues(t, 2, c.usersAt())
	require.Empty(t, users, "each once")
}
