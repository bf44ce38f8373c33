package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

func TestLeavesAreRangesOfPositions(t *testing.T) {
	require.Zero(t, engine.LeafStart(0))
	require.Equal(t, engine.EndPosition, engine.LeafStart(engine.LeafCount))
	for leaf := range engine.LeafCount {
		require.Equal(t, leaf, engine.LeafOf(engine.LeafStart(leaf)))
		require.Equal(t, leaf, engine.LeafOf(engine.LeafStart(leaf+1)-1))
	}
}

// TestCountersKeepLeaves through changes at any positions, of live records and tombstones.
func TestCountersKeepLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counters engine.Counters
		held := map[engine.Position]record.Record{}
		for i := range rapid.IntRange(0, 50).Draw(t, "changes") {
			pos := engine.LeafStart(rapid.IntRange(0, engine.LeafCount-1).Draw(t, "leaf")) + engine.Position(rapid.IntRange(0, 1).Draw(t, "place"))
			stats := counters.Load()
			if old, found := held[pos]; found {
				stats.Remove(nil, old)
				delete(held, pos)
			}
			if kind := rapid.IntRange(0, 2).Draw(t, "kind"); kind > 0 {
				held[pos] = record.Record{Version: version(1, 1, uint64(i)), State: record.State{Type: record.Type(kind - 1)}}
				stats.Add(nil, held[pos])
			}
			counters.Change(pos, stats)

			var want engine.Leaves
			for pos, rec := range held {
				want.Add(pos, rec.Version)
			}
			leaves := counters.Leaves()
			require.Equal(t, want, leaves)
			require.Equal(t, stats.Root(), leaves.Root())
		}
	})
}

func TestDifferingLeaves(t *testing.T) {
	a := engine.Leaves{0: 1, 5: 7, 63: 9}
	b := engine.Leaves{0: 1, 5: 8, 62: 9}
	require.Equal(t, uint64(1<<5|1<<62|1<<63), a.Differing(&b))
	require.Zero(t, a.Differing(&a))
}

// TestNextLeaves visits exactly the positions of the leaves that are asked for, in as few steps as there are
// gaps.
func TestNextLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaves := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1 << 63, ^uint64(0)})).Draw(t, "leaves")
		from := engine.Position(rapid.Uint64Range(0, uint64(engine.EndPosition)).Draw(t, "from"))
		visited, last := uint64(0), from
		start, end := engine.NextLeaves(leaves, from)
		for ; start < engine.EndPosition; start, end = engine.NextLeaves(leaves, end) {
			require.Less(t, start, end)
			require.True(t, start == from || start > last && start == engine.LeafStart(engine.LeafOf(start)))
			for leaf := engine.LeafOf(start); engine.LeafStart(leaf) < end; leaf++ {
				visited |= 1 << leaf
			}
			last = end
		}
		require.Equal(t, engine.EndPosition, end)
		require.Equal(t, leaves&(^uint64(0)<<engine.LeafOf(from)), visited)
	})
}
