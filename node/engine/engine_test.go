package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

func TestPositionOfNeverChanges(t *testing.T) {
	for key, want := range map[string]engine.Position{
		"":                                 0xb3a535949718,
		"a":                                0x8575f0d2de9a,
		"foo":                              0xdaa89777ca4f,
		"user:1":                           0x7702134ed635,
		"a key of more than sixteen bytes": 0x54275d06e581,
	} {
		require.Equal(t, want, engine.PositionOf([]byte(key)), "%q", key)
	}
}

func TestPositionOfIsBelowEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		require.Less(t, engine.PositionOf(key), engine.EndPosition)
	})
}

func TestMixNeverChanges(t *testing.T) {
	require.Equal(t, uint64(0x33fe8bd4f9c57863), engine.Mix(record.Version{}))
	require.Equal(t, uint64(0x9e71840acaa5f697), engine.Mix(version(1, 2, 3)))
}

func TestMixTellsVersionsApart(t *testing.T) {
	seen := map[uint64]record.Version{}
	for counter := range uint64(20) {
		for incarnation := range uint64(20) {
			for seq := range uint64(50) {
				v := version(counter, incarnation, seq)
				other, taken := seen[engine.Mix(v)]
				require.False(t, taken, "%v and %v", v, other)
				seen[engine.Mix(v)] = v
			}
		}
	}
}

func TestStatsRemoveUndoesAdd(t *testing.T) {
	live := record.Record{Version: version(1, 1, 1), State: record.State{Type: record.String, Value: []byte("value")}}
	dead := record.Record{Version: version(1, 1, 2)}

	var stats engine.SlotStats
	stats.Add([]byte("key"), live)
	require.Equal(t, engine.SlotStats{Live: 1, Bytes: 8, Digest: engine.Mix(live.Version)}, stats)
	stats.Add([]byte("gone"), dead)
	require.Equal(t, engine.SlotStats{Live: 1, Tombstones: 1, Bytes: 8, Digest: engine.Mix(live.Version), TombstoneDigest: engine.Mix(dead.Version)}, stats)

	var sum engine.SlotStats
	sum.Merge(stats)
	sum.Merge(stats)
	require.Equal(t, engine.SlotStats{Live: 2, Tombstones: 2, Bytes: 16, Digest: 2 * stats.Digest, TombstoneDigest: 2 * stats.TombstoneDigest}, sum)

	stats.Remove([]byte("key"), live)
	stats.Remove([]byte("gone"), dead)
	require.Zero(t, stats)
}

func version(counter, incarnation, seq uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: counter, Incarnation: incarnation}, Seq: seq}
}

// BenchmarkCounting is what counts and digests cost for a write that replaces a record: all of
// it, the digests alone, and what keeping leaves adds to them.
func BenchmarkCounting(b *testing.B) {
	key := []byte("key:000000012345")
	former := record.Record{Version: version(3, 1, 7), State: record.State{Type: record.String, Value: make([]byte, 64)}}
	next := former
	b.Run("all", func(b *testing.B) {
		var stats engine.SlotStats
		for b.Loop() {
			next.Version.Seq++
			stats.Remove(key, former)
			stats.Add(key, next)
		}
	})
	b.Run("digests", func(b *testing.B) {
		digest := uint64(0)
		for b.Loop() {
			next.Version.Seq++
			digest += engine.Mix(next.Version) - engine.Mix(former.Version)
		}
	})
	b.Run("leaves", func(b *testing.B) {
		var leaves engine.Leaves
		pos, digest := engine.Position(0), uint64(0)
		for b.Loop() {
			pos = (pos + 1<<40 + 1) % engine.EndPosition
			digest++
			leaves[engine.LeafOf(pos)] += digest
		}
	})
	b.Run("counters", func(b *testing.B) {
		var counters engine.Counters
		pos := engine.Position(0)
		for b.Loop() {
			pos = (pos + 1<<40 + 1) % engine.EndPosition
			stats := counters.Load()
			next.Version.Seq++
			stats.Remove(key, former)
			stats.Add(key, next)
			counters.Change(pos, stats)
		}
	})
}

// TestUsePatch: a use has the place of any patch of a short value.
func TestUsePatch(t *testing.T) {
	for _, at := range []int{0, 1, 255, record.CopiedValue} {
		for _, n := range []int{0, 1, 255, record.CopiedValue} {
			use := engine.UsePatch(at, n)
			gotAt, gotN, ok := use.Patches()
			require.True(t, ok)
			require.Equal(t, []int{at, n}, []int{gotAt, gotN})
			require.True(t, use.Writes())
		}
	}
	for use, writes := range map[engine.Use]bool{engine.UseRecord: false, engine.UseValue: false, engine.UseWrite: true} {
		_, _, ok := use.Patches()
		require.False(t, ok)
		require.Equal(t, writes, use.Writes())
	}
}
