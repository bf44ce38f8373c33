package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/ring"
)

// lastCopies is LastCopies, below zero if another node ends or has ended in order.
func (n *Node) lastCopies() int {
	slots, together := n.LastCopies()
	if together {
		return -slots
	}
	return slots
}

// TestTheLastCopiesAreKnownBefore: a memory cluster that has lost one of three nodes is lost with the next one.
func TestTheLastCopiesAreKnownBefore(t *testing.T) {
	c := newFormed(t, 3, nil)
	status, err := c.nodes["a"].Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, admin.Survival{Failures: 1, Slots: ring.Slots}, *status.Survival)
	require.Empty(t, status.Warnings)
	require.Zero(t, c.nodes["b"].lastCopies())
	where, err := c.nodes["a"].Locate(t.Context(), 0, []byte("k"))
	require.NoError(t, err)
	require.Equal(t, 1, where.Survives)

	c.stop("c")
	again := c.start("c", nil)
	c.eventually(func() bool { return again.Self().State == admin.LostState })
	for _, name := range []string{"a", "b"} {
		n := c.nodes[name]
		c.eventually(func() bool { return n.lastCopies() == ring.Slots })
		status, err := n.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, admin.Survival{Slots: ring.Slots}, *status.Survival)
		require.Len(t, status.Warnings, 2)
		require.Contains(t, status.Warnings[0], "node a must not be restarted: it keeps its data in memory, and 16384 slots would be left without a majority, for good")
		require.Contains(t, status.Warnings[1], "node b must not")
		where, err := n.Locate(t.Context(), 0, []byte("k"))
		require.NoError(t, err)
		require.Zero(t, where.Survives)
	}
	require.Zero(t, again.lastCopies(), "it has nothing to lose")

	c.stop("b")
	a := c.nodes["a"]
	c.eventually(func() bool { return !a.peers.Of(2).Alive() })
	status, err = a.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, admin.Survival{NoMajority: ring.Slots}, *status.Survival)
	require.Contains(t, status.Warnings[0], "has the last copies of 16384 slots without a majority")
	require.Equal(t, -ring.Slots, a.lastCopies(), "b has ended in order; what it holds can still be saved")
	where, err = a.Locate(t.Context(), 0, []byte("k"))
	require.NoError(t, err)
	require.Equal(t, -1, where.Survives)
}

// TestANodeOnDiskIsNotTheLastCopy: it comes back with its data.
func TestANodeOnDiskIsNotTheLastCopy(t *testing.T) {
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, d.use)
	c.stop("c")
	a := c.nodes["a"]
	c.eventually(func() bool { return !a.peers.Of(3).Alive() })
	require.Zero(t, a.lastCopies())
	status, err := a.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, admin.Survival{Slots: ring.Slots}, *status.Survival)
	require.Empty(t, status.Warnings)
}
