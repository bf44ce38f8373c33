package disk_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestCollectingBringsNothingBack: large values are overwritten and removed while files of the value log are
// collected and tables compacted. What was removed is not there again, whenever the engine is opened.
func TestCollectingBringsNothingBack(t *testing.T) {
	forEachKind(t, testCollectingBringsNothingBack)
}

func testCollectingBringsNothingBack(t *testing.T, k kind) {
	rounds, keys := 60, 150
	if testing.Short() {
		rounds = 10
	}
	opt := small(k.dir(t.TempDir()))
	opt.MemTable, opt.valueFile, opt.Cache, opt.CollectInterval = 256*kib, mib, 64*kib, time.Millisecond
	random := rand.New(rand.NewPCG(1, 2))
	const slot = 7
	want := map[string]uint64{}
	seq := uint64(0)
	for range rounds {
		e, err := opt.open()
		require.NoError(t, err)
		opt.MustExist = true
		for i := range keys {
			key := fmt.Sprint("key ", i)
			rec, found, err := e.Get(slot, []byte(key))
			require.NoError(t, err)
			require.Equal(t, want[key], rec.Version.Seq, "%s, found %v: what was removed is back, or something is lost", key, found)
		}
		for range 4 {
			for i := range keys {
				key := fmt.Sprint("key ", i)
				seq++
				switch random.IntN(3) {
				case 0:
					rec := record.Record{Version: versionOf(seq), State: record.State{Type: record.String, Value: value(seq, 8*kib)}}
					require.NoError(t, e.Put(slot, []byte(key), rec))
					want[key] = seq
				case 1:
					require.NoError(t, e.Delete(slot, []byte(key)))
					delete(want, key)
				}
			}
			require.NoError(t, e.WriteBack())
		}
		require.LessOrEqual(t, e.LargeValues(), len(want)+keys, "what nobody refers to is removed")
		require.NoError(t, e.Close())
	}
}
