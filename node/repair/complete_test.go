package repair

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
)

// completeAt is until when a node knows that a peer has everything.
func (c *fakeCluster) completeAt(name, peer string) time.Time {
	var s metrics.NodeState
	c.node(name).Measure(&s)
	for _, p := range s.Repair {
		if p.Peer == peer {
			return p.Complete
		}
	}
	require.Fail(c.t, "no such peer")
	return time.Time{}
}

// TestAPeerIsCompleteOnceAllWasFoundThere: not by a pass that has something written there, which may be lost once more, but by the next one.
func TestAPeerIsCompleteOnceAllWasFoundThere(t *testing.T) {
	c, slot := newLarge(t, 3, nil)
	pass := func() (began time.Time) {
		began = time.Now()
		require.NoError(t, c.node("a").Repair(t.Context(), everything, new(Progress)))
		return began
	}
	require.Zero(t, c.completeAt("a", "c"))
	first := pass()
	require.False(t, c.completeAt("a", "c").Before(first))

	c.lose("c", slot, largeKey(1))
	second := pass()
	require.True(t, c.completeAt("a", "c").Before(second), "it had missed something")
	require.False(t, c.completeAt("a", "b").Before(second), "the other one had not")
	third := pass()
	require.False(t, c.completeAt("a", "c").Before(third))
	require.True(t, c.completeAt("a", "c").Before(time.Now()), "it is when the pass began")

	c.lose("c", slot, largeKey(1))
	c.node("a").refuses.Store(true)
	fourth := pass()
	require.True(t, c.completeAt("a", "c").Before(fourth), "it could not be written")
	c.node("a").refuses.Store(false)
	was := c.completeAt("a", "b")
	c.peer("a", "b").down.Store(true)
	require.Error(t, c.node("a").Repair(t.Context(), everything, new(Progress)))
	require.Equal(t, was, c.completeAt("a", "b"), "nobody has seen it since")
}

// TestAPeerThatIsBehindMayBeSo while it is written: only what it holds by then of what it was to hold counts.
func TestAPeerThatIsBehindMayBeSo(t *testing.T) {
	c, slot := newLarge(t, 3, nil)
	key := largeKey(1)
	c.put(slot, key, value("v", 5), "c")
	a := c.node("a")
	table, self := a.Ring()
	for mine, unsure := range map[uint64]int{5: 0, 6: 1} {
		seen := a.comparison(table, self, c.peer("a", "c"), everything, new(Progress))
		require.NoError(t, seen.settle(t.Context(), []suspect{{protocol.SlotKey{Slot: slot, Key: key}, value("", 4).Version, value("", mine).Version}}))
		require.Equal(t, unsure, seen.unsure)
		require.Empty(t, seen.missed, "it is being written")
	}
}
