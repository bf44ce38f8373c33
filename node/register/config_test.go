package register

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuorum(t *testing.T) {
	of := func(c *Config, ids ...uint16) set {
		var s set
		for _, id := range ids {
			s.add(c.index(id))
		}
		return s
	}
	three := NewConfig(1, []uint16{7, 8, 9}, nil)
	require.False(t, three.quorum(of(three, 7)))
	require.True(t, three.quorum(of(three, 7, 9)))
	require.False(t, three.all(of(three, 7, 9)))
	require.True(t, three.all(of(three, 7, 8, 9)))
	require.Equal(t, -1, three.index(1))

	four := NewConfig(1, []uint16{1, 2, 3, 4}, nil)
	require.False(t, four.quorum(of(four, 1, 2)), "half is no majority")
	require.True(t, four.quorum(of(four, 1, 2, 4)))

	joint := NewConfig(2, []uint16{1, 2, 3}, []uint16{3, 4, 5}) // (R16)
	require.True(t, joint.Joint())
	require.Equal(t, []uint16{1, 2, 3, 4, 5}, joint.Members())
	require.False(t, joint.quorum(of(joint, 1, 2)), "only of the old")
	require.False(t, joint.quorum(of(joint, 4, 5, 1)), "only of the new")
	require.True(t, joint.quorum(of(joint, 1, 3, 5)))
	require.False(t, joint.all(of(joint, 1, 2, 3, 4)))

	require.Panics(t, func() { NewConfig(1, nil, nil) })
	require.Panics(t, func() { NewConfig(1, make([]uint16, MaxMembers+1), nil) })
}

func TestNames(t *testing.T) {
	require.Equal(t, "sync-read", SyncRead.String())
	require.Equal(t, "?", Kind(99).String())
	require.Len(t, EventNames(), int(NumEvents))
	require.Equal(t, "resend", Resent.String())
	for _, name := range EventNames() {
		require.NotEmpty(t, name)
	}
}
