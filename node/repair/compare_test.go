package repair

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/memory"
)

func TestAppendSuspects(t *testing.T) {
	entry := func(place uint64, key string, version uint64) protocol.ScanEntry {
		return protocol.ScanEntry{Place: protocol.NewPlace(3, place), Key: []byte(key), Version: record.Version{Seq: version}}
	}
	missed := func(key string, version, mine uint64) suspect {
		return suspect{protocol.SlotKey{Slot: 3, Key: []byte(key)}, record.Version{Seq: version}, record.Version{Seq: mine}}
	}
	mine := []protocol.ScanEntry{entry(1, "a", 1), entry(2, "b", 1), entry(2, "c", 1), entry(4, "e", 2), entry(5, "f", 1)}
	theirs := []protocol.ScanEntry{entry(1, "a", 1), entry(2, "c", 2), entry(2, "b", 1), entry(3, "d", 7), entry(4, "e", 1)}
	require.Equal(t, []suspect{
		missed("c", 2, 1), missed("d", 7, 0), missed("e", 1, 2), missed("f", 0, 1),
	}, appendSuspects(nil, mine, theirs))
	require.Empty(t, appendSuspects(nil, mine, mine))
	require.Len(t, appendSuspects(nil, nil, theirs), 5)
}

func TestTheRateBoundsSteps(t *testing.T) {
	c := comparison{rate: 1 << 20, bytes: 512 << 10}
	require.Equal(t, 500*time.Millisecond, c.due())
}

// TestWhatHomesRefuseHasFailed: somebody who waits for it is told, after some tries.
func TestWhatHomesRefuseHasFailed(t *testing.T) {
	c, slot := newLarge(t, 3, nil)
	c.lose("c", slot, largeKey(1))
	a := c.node("a")
	a.refuses.Store(true)
	progress, _ := c.compareAt("a", slot, false)
	require.EqualValues(t, []int64{0, 1, 1}, []int64{progress.Keys.Load(), progress.Failed.Load(), progress.Differing.Load()})
	a.refuses.Store(false)
	c.repairAt("a", slot)
}

// TestAPeerThatIsDownDoesNotKeepFromTheOthers, and is named.
func TestAPeerThatIsDownDoesNotKeepFromTheOthers(t *testing.T) {
	c, slot := newLarge(t, 3, nil)
	c.lose("c", slot, largeKey(1))
	c.peer("a", "b").down.Store(true)
	err := c.node("a").Repair(t.Context(), everything, new(Progress))
	require.Equal(t, "v", c.held("c", slot, string(largeKey(1))))
	peers, other := byPeer(err)
	require.Empty(t, other)
	require.Equal(t, map[string]string{"b": "down"}, peers)
}

// TestWhatAllReplicasDeletedIsForgotten though the home that deleted it has not heard of all: they
// differ in nothing. What some of them may still miss is not.
func TestWhatAllReplicasDeletedIsForgotten(t *testing.T) {
	c, slot := newLarge(t, 3, nil)
	c.put(slot, []byte("deleted"), record.Record{Version: record.Version{Seq: 9}})
	deletions := func() uint64 {
		stats, err := c.node("a").stats(1, slot)
		require.NoError(t, err)
		return stats.Tombstones
	}
	c.peer("a", "c").down.Store(true)
	require.Error(t, c.node("a").Repair(t.Context(), everything, new(Progress)))
	require.EqualValues(t, 1, deletions())
	c.peer("a", "c").down.Store(false)
	require.NoError(t, c.node("b").Repair(t.Context(), everything, new(Progress)))
	require.EqualValues(t, 1, deletions(), "b is not responsible for it")
	require.NoError(t, c.node("a").Repair(t.Context(), everything, new(Progress)))
	require.Zero(t, deletions())
	require.Equal(t, "v", c.held("a", slot, string(largeKey(1))))
}

// TestASlotThatCannotBeCountedIsDamaged: whoever finds that out tells the node, and holds no lock then.
func TestASlotThatCannotBeCountedIsDamaged(t *testing.T) {
	c := newFakes(t, func(n *fakeNode) {
		if n.name == "a" {
			n.engine = rotten{memory.New(), true}
		}
	})
	slot, progress := c.slotOf("a"), &Progress{}
	require.NoError(t, c.node("a").Repair(t.Context(), Request{First: slot, Last: slot}, progress))
	require.EqualValues(t, 2, progress.Unreadable.Load())
	require.Error(t, c.node("a").damaged[slot])
}
