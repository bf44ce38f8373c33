package node

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/ring"
)

func TestWrongCountsAreCorrected(t *testing.T) {
	c := newFormed(t, 1, nil)
	n := c.nodes["a"]
	slot := ring.SlotOf([]byte("{one}"))
	cl := c.dial(n)
	for i := range 3*recountStep + 1 {
		require.Equal(t, "+OK\r\n", string(cl.do(fmt.Sprint("set {one}", i, " v")).Reply))
	}
	right, err := n.slotSums(slot)
	require.NoError(t, err)
	n.recount(t.Context(), slot)
	require.Zero(t, n.Metrics.Miscounted.Value())

	wrong, crossed := right, right
	wrong.stats.Digest++
	crossed.leaves[3], crossed.leaves[4] = right.leaves[4], right.leaves[3]
	for i, wrong := range []sums{wrong, crossed} {
		require.NoError(t, n.engine.Correct(slot, wrong.stats, wrong.leaves))
		n.recount(t.Context(), slot)
		corrected, err := n.slotSums(slot)
		require.NoError(t, err)
		require.Equal(t, right, corrected)
		require.EqualValues(t, i+1, n.Metrics.Miscounted.Value())
		require.Equal(t, i+1, c.logs.count("what the store says of a slot is not what it holds"))
	}
	n.recount(t.Context(), slot+1) // an empty one
	require.EqualValues(t, 2, n.Metrics.Miscounted.Value())
}

// TestRecountingFindsWhatCannotBeRead though nobody asks for it.
func TestRecountingFindsWhatCannotBeRead(t *testing.T) {
	rotten := &broken{Engine: memory.New()}
	c := newFormed(t, 1, func(o *Options) { o.Engine = rotten })
	c.set("a", "k", "v")
	rotten.fail(errFlipped, nil)
	n := c.nodes["a"]
	n.recount(t.Context(), ring.SlotOf([]byte("k")))
	slots, first := n.damage.read()
	require.Equal(t, 1, slots)
	require.ErrorIs(t, first, engine.ErrCorrupt)
}
