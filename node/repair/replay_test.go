package repair

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/hint"
)

// TestHintsAreWrittenWhenThePeerTakesThem, and this node is back itself: until then they are kept.
func TestHintsAreWrittenWhenThePeerTakesThem(t *testing.T) {
	c, slot := newLarge(t, 3, nil)
	a, p := c.node("a"), c.peer("a", "c")
	lost := largeKey(1)
	c.lose("c", slot, lost)
	p.hints.Add(slot, lost)
	kept := func() {
		a.replay(t.Context())
		require.Equal(t, 1, p.hints.Counts().Keys)
		require.Empty(t, c.held("c", slot, string(lost)))
	}
	a.back.Store(false)
	kept()
	a.back.Store(true)
	p.down.Store(true)
	kept()
	p.down.Store(false)
	p.crowded.Store(true)
	kept()
	p.crowded.Store(false)
	a.replay(t.Context())
	require.Equal(t, hint.Counts{}, p.hints.Counts())
	require.Equal(t, "v", c.held("c", slot, string(lost)))
	require.EqualValues(t, 1, a.total.Keys.Load())
}

// TestHintsThatCannotBeWrittenMarkTheirSlots, which are compared.
func TestHintsThatCannotBeWrittenMarkTheirSlots(t *testing.T) {
	c, slot := newLarge(t, 3, nil)
	a, p := c.node("a"), c.peer("a", "c")
	c.lose("c", slot, largeKey(1))
	p.hints.Add(slot, largeKey(1))
	a.refuses.Store(true)
	a.replay(t.Context())
	require.Equal(t, hint.Counts{}, p.hints.Counts(), "the slot was compared")
	require.NotZero(t, a.total.Slots.Load())
	require.NotZero(t, a.total.Failed.Load())
	p.hints.Mark(slot)
	a.refuses.Store(false)
	a.replay(t.Context())
	require.Equal(t, "v", c.held("c", slot, string(largeKey(1))))
}
