package repair

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
)

func TestWrongCountsAreCorrected(t *testing.T) {
	c := newFakes(t, nil)
	n, slot := c.node("a"), uint16(7)
	for i := range 3*recountStep + 1 {
		c.put(slot, fmt.Append(nil, "key-", i), value("v", uint64(i)+1))
	}
	right, err := n.sums(slot)
	require.NoError(t, err)
	n.Recount(t.Context(), slot)
	require.Zero(t, n.metrics.Miscounted.Value())

	wrong, crossed := right, right
	wrong.stats.Digest++
	crossed.leaves[3], crossed.leaves[4] = right.leaves[4], right.leaves[3]
	for i, wrong := range []sums{wrong, crossed} {
		require.NoError(t, n.engine.Correct(slot, wrong.stats, wrong.leaves))
		n.Recount(t.Context(), slot)
		corrected, err := n.sums(slot)
		require.NoError(t, err)
		require.Equal(t, right, corrected)
		require.EqualValues(t, i+1, n.metrics.Miscounted.Value())
		require.Contains(t, n.logs.String(), "what the store says of a slot is not what it holds")
		n.logs.Reset()
	}
	n.Recount(t.Context(), slot+1) // an empty one
	require.EqualValues(t, 2, n.metrics.Miscounted.Value())
	require.Empty(t, n.damaged)
}

// written is an engine whose slots are written to while somebody counts their records.
type written struct{ *memory.Engine }

func (w written) Scan(slot uint16, from engine.Position, visit func(engine.Position, []byte, record.Record) bool) error {
	err := w.Engine.Scan(slot, from, visit)
	if err == nil {
		err = w.Put(slot, fmt.Append(nil, "key-", from), value("v", 2))
	}
	return err
}

// TestASlotThatIsWrittenIsNotCorrected: what was counted is not what it holds any more.
func TestASlotThatIsWrittenIsNotCorrected(t *testing.T) {
	c := newFakes(t, func(n *fakeNode) { n.engine = written{memory.New()} })
	c.put(7, []byte("k"), value("v", 1))
	n := c.node("a")
	n.Recount(t.Context(), 7)
	require.Zero(t, n.metrics.Miscounted.Value())
}

// rotten is an engine whose records cannot be read, or whose counts.
type rotten struct {
	*memory.Engine
	counts bool
}

func (r rotten) Scan(uint16, engine.Position, func(engine.Position, []byte, record.Record) bool) error {
	return engine.ErrCorrupt
}

func (r rotten) Stats(slot uint16) (engine.SlotStats, error) {
	if r.counts {
		return engine.SlotStats{}, engine.ErrCorrupt
	}
	return r.Engine.Stats(slot)
}

// TestRecountingFindsWhatCannotBeRead though nobody asks for it.
func TestRecountingFindsWhatCannotBeRead(t *testing.T) {
	c := newFakes(t, func(n *fakeNode) { n.engine = rotten{Engine: memory.New()} })
	n := c.node("a")
	n.Recount(t.Context(), 7)
	require.ErrorIs(t, n.damaged[7], engine.ErrCorrupt)
}
