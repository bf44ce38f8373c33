package enginetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

func testScanOrder(t *testing.T, e engine.Engine) {
	contents := put(t, e, 2, 1000)
	require.NoError(t, e.Put(2, []byte("deleted"), tombstone(1)))
	contents["deleted"] = tombstone(1)
	put(t, e, 1, 10)
	put(t, e, 3, 10)
	requireContents(t, e, 2, contents)

	whole := scan(t, e, 2, 0, math.MaxInt)
	requireItems(t, whole, scan(t, e, 2, 0, math.MaxInt))

	visited := 0
	require.NoError(t, e.Scan(2, 0, func(engine.Position, []byte, record.Record) bool {
		visited++
		return visited < 3
	}))
	require.Equal(t, 3, visited, "Scan ends when visit returns false")
}

func testScanFromAnywhere(t *testing.T, e engine.Engine) {
	put(t, e, 2, 300)
	whole := scan(t, e, 2, 0, math.MaxInt)
	for i, item := range whole {
		requireItems(t, whole[i:], scan(t, e, 2, item.pos, math.MaxInt))
		requireItems(t, whole[i+1:], scan(t, e, 2, item.pos+1, math.MaxInt))
	}
	require.Empty(t, scan(t, e, 2, engine.EndPosition-1, math.MaxInt))
	require.Empty(t, scan(t, e, 2, engine.EndPosition, math.MaxInt))
	require.Empty(t, scan(t, e, 2, math.MaxUint64, math.MaxInt))
}

// testScanOfManyKeys pages through a slot that is larger than what an engine would keep at
// hand, with keys of equal positions in it.
func testScanOfManyKeys(t *testing.T, e engine.Engine) {
	const page = 777
	n := 10_000
	if testing.Short() {
		n = 3000
	}
	contents := put(t, e, 2, n)
	for i, key := range keysWithOnePosition(t, 300) {
		rec := text(uint64(i), "equal")
		require.NoError(t, e.Put(2, key, rec))
		contents[string(key)] = rec
	}
	requireContents(t, e, 2, contents)

	var paged []item
	for from := engine.Position(0); ; {
		items := scan(t, e, 2, from, page)
		paged = append(paged, items...)
		if len(items) < page {
			break
		}
		from = items[len(items)-1].pos + 1
	}
	require.Len(t, paged, n+300)
	for i, item := range paged {
		require.True(t, i == 0 || paged[i-1].pos <= item.pos)
		requireEqual(t, item.key, contents[item.key], item.rec)
	}
}

func requireItems(t *testing.T, want, got []item) {
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].key, got[i].key)
		requireEqual(t, want[i].key, want[i].rec, got[i].rec)
	}
}

// testScanWhileTheSlotChanges scans in small steps and changes the slot between
// them, by so much that every kind of table grows and shrinks. What is there all
// the time must be seen, once.
func testScanWhileTheSlotChanges(t *testing.T, e engine.Engine) {
	const permanent, transient = 400, 4000
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		for i := range permanent {
			require.NoError(t, e.Put(8, keyNumber(i), text(uint64(i), "stays")))
		}
		seen := map[string]bool{}
		from, step := engine.Position(0), 0
		for {
			items := scan(t, e, 8, from, 10)
			for _, item := range items {
				require.False(t, seen[item.key], "%q seen twice", item.key)
				seen[item.key] = true
			}
			if len(items) < 10 {
				break
			}
			from = items[len(items)-1].pos + 1
			step++
			grow := (step/8+round)%2 == 0
			for range transient / 20 {
				key := keyNumber(permanent + random.IntN(transient))
				if grow {
					require.NoError(t, e.Put(8, key, text(1, "comes and goes")))
				} else {
					require.NoError(t, e.Delete(8, key))
				}
			}
		}
		for i := range permanent {
			require.True(t, seen[string(keyNumber(i))], "key %d not seen", i)
		}
	}
}

func testEqualPositions(t *testing.T, e engine.Engine) {
	keys := keysWithOnePosition(t, 500)
	contents := put(t, e, 4, 100)
	for i, key := range keys {
		contents[string(key)] = text(uint64(i), "equal")
		require.NoError(t, e.Put(4, key, contents[string(key)]))
	}
	requireContents(t, e, 4, contents)

	pos := engine.PositionOf(keys[0])
	require.Len(t, scan(t, e, 4, pos, 1), len(keys), "all keys of one position")
	for _, item := range scan(t, e, 4, pos+1, math.MaxInt) {
		require.Greater(t, item.pos, pos)
	}

	for i, key := range keys {
		if i%3 != 0 {
			require.NoError(t, e.Delete(4, key))
			delete(contents, string(key))
		}
	}
	requireContents(t, e, 4, contents)
	require.NoError(t, e.Clear(4, record.SlotMeta{Cleared: version(250)}))
	for key, rec := range contents {
		if !version(250).Less(rec.Version) {
			delete(contents, key)
		}
	}
	requireContents(t, e, 4, contents)
}
