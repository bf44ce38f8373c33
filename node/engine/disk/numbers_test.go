package disk

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// TestNumbersAreOfTheLastWrite: what is known is true, whatever was forgotten.
func TestNumbersAreOfTheLastWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n numbers
		model := map[string]uint64{}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			key := fmt.Sprint("key", rapid.IntRange(0, 40).Draw(t, "key"))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				n.forget([]byte(key))
				delete(model, key)
			case 1:
				n.note([]byte(key), elsewhere{parts: head{object: 7}}, 0)
				delete(model, key)
			default:
				number := rapid.Uint64().Draw(t, "number")
				n.note([]byte(key), elsewhere{number: number}, 0)
				model[key] = number
			}
			for key, number := range model {
				if got, known := n.of([]byte(key)); known {
					require.Equal(t, number, got)
				}
			}
			if _, noted := model[key]; !noted {
				_, known := n.of([]byte(key))
				require.False(t, known)
			}
		}
	})
}

// TestNumbersTakeAPartOfTheCache, within limits.
func TestNumbersTakeAPartOfTheCache(t *testing.T) {
	for cache, places := range map[int64]int{0: leastNumbers, 64 << 20: 1 << 16, 1 << 40: mostNumbers} {
		var n numbers
		n.note([]byte("key"), elsewhere{number: 3}, cache)
		require.Len(t, n.places, places)
		require.LessOrEqual(t, int64(len(n.places)*numberSize), max(leastNumbers*numberSize, cache/numbersPart))
	}
}

// TestValuesApartAreReplacedWithoutReading: of what was written lately the value that it replaces is removed, and not looked up. So is that of any other record, which is.
func TestValuesApartAreReplacedWithoutReading(t *testing.T) {
	store := &fakeStore{data: map[string][]byte{}}
	e := openFake(t, t.TempDir(), store)
	defer func() { require.NoError(t, e.Close()) }()
	random := rand.New(rand.NewPCG(1, 1))
	seq := uint64(0)
	put := func(key string, size int) {
		seq++
		value := []byte(strings.Repeat(string(rune('a'+random.IntN(26))), size))
		require.NoError(t, e.Put(7, []byte(key), record.Record{Version: record.Version{Seq: seq}, State: record.State{Type: record.String, Value: value}}))
	}
	apart := func() int {
		require.NoError(t, e.FlushOnly())
		return len(store.keys(largePrefix))
	}
	put("a", 3000)
	require.Equal(t, 1, apart())
	reads := store.reads.Load()
	put("a", 4000)
	require.Equal(t, 1, apart(), "what was replaced is there")
	put("a", 10)
	require.Zero(t, apart())
	put("a", 5000)
	put("b", 10)
	require.Equal(t, 1, apart())
	require.EqualValues(t, 1, store.reads.Load()-reads, "of a record that was not written lately")
	e.numbers.forget(appendKey(nil, 7, e.slots[7].generation, engine.PositionOf([]byte("a")), []byte("a")))
	require.NoError(t, e.Delete(7, []byte("a")))
	require.Zero(t, apart())
	require.EqualValues(t, 2, store.reads.Load()-reads)

	put("a", 3000)
	store.setFull(true, 1)
	require.Error(t, e.FlushOnly())
	store.setFull(false, 0)
	put("a", 3000)
	require.NoError(t, e.FlushOnly())
	require.NoError(t, e.sweepOrphans()) // of what this store has taken of it
	require.Equal(t, 1, apart(), "after a write that failed nothing is known")
}
