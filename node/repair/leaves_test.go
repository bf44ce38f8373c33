package repair

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
)

// newLarge returns three nodes that all hold many keys in one slot, which a is responsible for.
func newLarge(t *testing.T, keys int, change func(*fakeNode)) (c *fakeCluster, slot uint16) {
	c = newFakes(t, change)
	slot = c.slotOf("a")
	for i := range keys {
		c.put(slot, largeKey(i), value("v", uint64(i)+1))
	}
	return c, slot
}

func largeKey(i int) []byte { return fmt.Append(nil, "large-", i) }

// lose makes a node miss a key.
func (c *fakeCluster) lose(name string, slot uint16, key []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	require.NoError(c.t, c.node(name).engine.Delete(slot, key))
}

// compareAt lets a node compare a slot with all peers, and returns also how many records were listed.
func (c *fakeCluster) compareAt(name string, slot uint16, dry bool) (progress *Progress, listed int64) {
	c.t.Helper()
	progress = &Progress{}
	n := c.node(name)
	before := n.listed.Load()
	require.NoError(c.t, n.Repair(c.t.Context(), Request{First: slot, Last: slot, DryRun: dry}, progress))
	require.EqualValues(c.t, 2, progress.Slots.Load(), "of both peers")
	return progress, n.listed.Load() - before
}

// repairAt lets a node repair a slot, which makes all nodes hold the same.
func (c *fakeCluster) repairAt(name string, slot uint16) {
	c.t.Helper()
	c.compareAt(name, slot, false)
	require.True(c.t, c.equal(slot))
	progress, listed := c.compareAt(name, slot, false)
	require.Zero(c.t, progress.Keys.Load()+progress.Failed.Load()+listed)
}

// inLeaf counts the keys of newLarge in a leaf.
func inLeaf(keys, leaf int) (n int64) {
	for i := range keys {
		if engine.LeafOf(engine.PositionOf(largeKey(i))) == leaf {
			n++
		}
	}
	return n
}

// TestOneKeyOfALargeSlot is found without listing more than the keys of its leaf.
func TestOneKeyOfALargeSlot(t *testing.T) {
	const keys = 20_000
	c, slot := newLarge(t, keys, nil)
	lost := largeKey(77)
	c.lose("c", slot, lost)

	progress, listed := c.compareAt("a", slot, true)
	require.EqualValues(t, 1, progress.Keys.Load())
	require.EqualValues(t, 1, progress.Differing.Load())
	leaf := inLeaf(keys, engine.LeafOf(engine.PositionOf(lost)))
	require.Equal(t, leaf+leaf-1, listed)
	require.Less(t, listed, int64(2*keys*3/100))
	require.Empty(t, c.held("c", slot, string(lost)), "nothing is written")

	c.repairAt("a", slot)
	require.Equal(t, "v", c.held("c", slot, string(lost)))
}

// TestLeavesThatDifferInSeveralPlaces are all listed, and nothing between them, whatever the pages.
func TestLeavesThatDifferInSeveralPlaces(t *testing.T) {
	const keys = 4 * repairPage
	c, slot := newLarge(t, keys, nil)
	leaves := map[int]bool{}
	const lost = 20
	for i := range lost {
		c.lose("c", slot, largeKey(i))
		leaves[engine.LeafOf(engine.PositionOf(largeKey(i)))] = true
	}
	c.lose("a", slot, largeKey(lost)) // which b and c have
	leaves[engine.LeafOf(engine.PositionOf(largeKey(lost)))] = true
	want := int64(0)
	for leaf := range leaves {
		want += inLeaf(keys, leaf)
	}

	progress, listed := c.compareAt("a", slot, true)
	require.EqualValues(t, lost+2, progress.Keys.Load(), "what a lost differs from both")
	require.Less(t, listed, 2*2*want, "of two peers and both sides")
	require.Less(t, listed, int64(2*2*keys/2))
	c.repairAt("a", slot)
	for i := range lost + 1 {
		for _, n := range c.nodes {
			require.Equal(t, "v", c.held(n.name, slot, string(largeKey(i))), "%s, %d", n.name, i)
		}
	}
}

// busy is an engine of which a slot is written all the time: whoever looks finds a write under way, in
// one leaf after the other.
type busy struct {
	*memory.Engine
	slot   atomic.Int64 // -1: none
	leaves atomic.Pointer[[]int]
	looks  atomic.Int64
}

func (b *busy) Stats(slot uint16) (engine.SlotStats, error) {
	stats, err := b.Engine.Stats(slot)
	if int64(slot) == b.slot.Load() {
		stats.Digest++
	}
	return stats, err
}

func (b *busy) Leaves(slot uint16) (engine.Leaves, error) {
	leaves, err := b.Engine.Leaves(slot)
	if int64(slot) == b.slot.Load() {
		list := *b.leaves.Load()
		leaves[list[int(b.looks.Add(1))%len(list)]]++
	}
	return leaves, err
}

// TestASlotThatIsWrittenAllTheTime is not listed but for the leaves that always differ, and nothing is written.
func TestASlotThatIsWrittenAllTheTime(t *testing.T) {
	const keys = 2000
	written := &busy{Engine: memory.New()}
	written.slot.Store(-1)
	c, slot := newLarge(t, keys, func(n *fakeNode) {
		if n.name == "c" {
			n.engine = written
		}
	})
	written.leaves.Store(&[]int{3, 9})
	written.slot.Store(int64(slot))
	_, listed := c.compareAt("a", slot, false)
	require.Zero(t, listed)

	written.leaves.Store(&[]int{5})
	progress, listed := c.compareAt("a", slot, false)
	require.Equal(t, 2*inLeaf(keys, 5), listed)
	require.Zero(t, progress.Keys.Load()+progress.Differing.Load()+progress.Failed.Load())
}

// moving is an engine of which a slot is being written when somebody looks at it, some times.
type moving struct {
	*memory.Engine
	slot  atomic.Int64 // -1: none
	looks atomic.Int64 // that are left to find it so
}

func (m *moving) Stats(slot uint16) (engine.SlotStats, error) {
	stats, err := m.Engine.Stats(slot)
	if int64(slot) == m.slot.Load() && m.looks.Add(-1) >= 0 {
		stats.Digest++
	}
	return stats, err
}

// TestASlotThatDiffersForAMomentIsNotListed, but one that does at every look.
func TestASlotThatDiffersForAMomentIsNotListed(t *testing.T) {
	written := &moving{Engine: memory.New()}
	written.slot.Store(-1)
	c, slot := newLarge(t, leavesFrom-1, func(n *fakeNode) {
		if n.name == "c" {
			n.engine = written
		}
	})
	written.slot.Store(int64(slot))
	written.looks.Store(slotLooks - 1)
	_, listed := c.compareAt("a", slot, false)
	require.Zero(t, listed)
	require.Negative(t, written.looks.Load(), "it was looked at once more")

	written.looks.Store(slotLooks)
	progress, listed := c.compareAt("a", slot, false)
	require.EqualValues(t, 2*(leavesFrom-1), listed)
	require.Zero(t, progress.Keys.Load()+progress.Differing.Load()+progress.Failed.Load())
}

// TestASmallSlotIsListedAtOnce: its leaves would take more.
func TestASmallSlotIsListedAtOnce(t *testing.T) {
	c, slot := newLarge(t, leavesFrom-1, nil)
	c.lose("c", slot, largeKey(1))
	_, listed := c.compareAt("a", slot, true)
	require.EqualValues(t, 2*leavesFrom-3, listed)
	c.repairAt("a", slot)
}

// TestAPeerThatDoesNotKnowLeaves has its slots listed as a whole.
func TestAPeerThatDoesNotKnowLeaves(t *testing.T) {
	const keys = 1000
	c, slot := newLarge(t, keys, nil)
	c.lose("c", slot, largeKey(1))
	c.put(slot+1, []byte("other"), value("v", 1))
	p := c.peer("a", "c")
	current := p.ask
	p.ask = func(method protocol.Method, payload []byte) ([]byte, error) {
		if method > protocol.MethodRepair {
			return nil, fmt.Errorf("unknown call %d", method)
		}
		return current(method, payload)
	}
	progress := &Progress{}
	require.NoError(t, c.node("a").Repair(t.Context(), Request{First: slot, Last: slot, DryRun: true, Peer: "c"}, progress))
	require.EqualValues(t, 2*keys-1, c.node("a").listed.Load())
	require.EqualValues(t, 1, progress.Keys.Load())
}
