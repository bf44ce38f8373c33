package collect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestAMajorityHasToShowAPage: k was acknowledged by 2 and 3, and 1 knows nothing of it.
func TestAMajorityHasToShowAPage(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 4, 5})
	nodes[2].put(t, "k", version(1), text("v"))
	nodes[3].put(t, "k", version(1), text("v"))
	nodes[2].down.Store(true)
	nodes[3].down.Store(true)
	require.ErrorContains(t, nodes[4].collectNow(), "too few of the members show what they hold")
	nodes[3].down.Store(false)
	require.NoError(t, nodes[4].collectNow())
	require.Equal(t, []string{"k"}, nodes[1].written(), "1 and 3 differ")
	nodes[2].down.Store(false)
	require.NoError(t, nodes[5].collectNow())
	require.Equal(t, map[string]record.Version{"k": version(1)}, nodes[5].holds(t), "2 and 3 agree")
}

// TestAPageEndsWhereTheFirstOneEnds of those that are shown: nothing behind that is left out.
func TestAPageEndsWhereTheFirstOneEnds(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	for i := range 20 {
		for _, id := range []uint16{1, 3} {
			nodes[id].put(t, fmt.Sprint("key-", i), version(1), text(strings.Repeat("v", pageBytes/2)))
			nodes[id].put(t, fmt.Sprint("differs-", i), version(uint64(id)), text("v"))
		}
	}
	require.NoError(t, nodes[4].collectNow()) // 2 has nothing, and is asked, too
	require.Len(t, nodes[4].holds(t), 20)
	require.Len(t, nodes[1].written(), 20)
}

// TestOneThatStays shows itself what it holds, and has it written again if it is newer than what the others agree on.
func TestOneThatStays(t *testing.T) {
	old := []uint16{1, 2, 3, 4, 5, 6, 7}
	nodes := newFakes(old, []uint16{1, 2, 3})
	for _, id := range old {
		nodes[id].put(t, "same", version(1), text("v"))
		if id > 2 {
			nodes[id].put(t, "newer", version(1), text("v"))
		} else {
			nodes[id].put(t, "newer", version(2), text("w"))
			nodes[id].put(t, "own", version(2), text("w"))
		}
	}
	nodes[2].down.Store(true)
	nodes[3].leader, nodes[1].leader = 4, 4
	require.NoError(t, nodes[1].collectNow())
	require.Equal(t, []string{"newer", "own"}, nodes[4].written())
	require.Len(t, nodes[1].holds(t), 3)
	require.NoError(t, nodes[3].collectNow(), "nobody shows it what only 1 and 2 hold but them")
	require.Len(t, nodes[3].holds(t), 2)
}

// TestWhatIsKnownOfTheSlotIsTakenOver: the clear that is agreed on, the highest floor and promise.
func TestWhatIsKnownOfTheSlotIsTakenOver(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	for id := uint16(1); id <= 3; id++ {
		require.NoError(t, nodes[id].engine.PutSlot(slot, record.SlotMeta{Cleared: version(3), Floor: version(uint64(3 + id)),
			Promised: record.Ballot{Counter: uint64(id)}}))
	}
	require.NoError(t, nodes[4].collectNow())
	require.Equal(t, record.SlotMeta{Epoch: epoch, Cleared: version(3), Floor: version(6), Promised: record.Ballot{Counter: 3}}, nodes[4].meta(t))
}

// TestNothingIsReportedThatIsNotDurable: what is copied is, page by page.
func TestNothingIsReportedThatIsNotDurable(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	full(t, nodes, 2, pageBytes)
	n := nodes[4]
	n.uncommitted = errBroken
	require.ErrorIs(t, n.collectNow(), errBroken)
	n.uncommitted = nil
	require.NoError(t, n.collectNow())
	require.EqualValues(t, 3, n.commits.Load())
}

// TestThereIsNoRoom for what would come to the node. One that stays goes on: it has most of it.
func TestThereIsNoRoom(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	full(t, nodes, 1, 1)
	nodes[4].short, nodes[1].short = errBroken, errBroken
	require.ErrorIs(t, nodes[4].collectNow(), errBroken)
	require.Empty(t, nodes[4].holds(t))
	require.NoError(t, nodes[1].collectNow())
}
