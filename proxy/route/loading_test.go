package route

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
)

// TestLoadingSaysWhatItWaitsFor and ends when every slot has a majority; from then on it is the slots that have one or not.
func TestLoadingSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	for _, n := range f.nodes {
		n.props.Store(&protocol.Properties{State: "forming"})
	}
	f.nodes[1].setDown(true)
	f.nodes[2].setDown(true)
	c := newCoordinator(t, patient, f.nodes[0].address(), f.nodes[1].address())
	eventually(t, func() bool {
		err := c.Loading()
		require.ErrorIs(t, err, ErrNotReady)
		text := err.Error()
		return strings.Contains(text, f.nodes[0].address()+": ") && strings.Contains(text, f.nodes[1].address()+": ")
	}, "it says whom it waits for")
	for _, n := range f.nodes {
		n.vote(f.document)
	}
	eventually(t, func() bool { return c.ring.Load() != nil }, "the ring is known")
	require.ErrorIs(t, c.Loading(), ErrNotReady, "one of three is no majority")
	f.nodes[1].setDown(false)
	f.awaitUp(c, 2)
	require.NoError(t, c.Loading())
	f.nodes[1].setDown(true)
	f.awaitUp(c, 1)
	require.NoError(t, c.Loading(), "it has been there")
}
