package enginetest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

func testClear(t *testing.T, e engine.Engine) {
	lower, higher := version(50), version(50)
	lower.Ballot.Counter--
	higher.Ballot.Incarnation++
	records := map[string]record.Record{
		"older":             text(49, "x"),
		"same":              text(50, "x"),
		"newer":             text(51, "x"),
		"older tombstone":   tombstone(49),
		"newer tombstone":   tombstone(51),
		"of a lower ballot": {Version: lower, State: record.State{Type: record.String, Value: []byte("x")}},
		"of a higher ballot": {
			Version: higher, State: record.State{Type: record.String, ExpireAt: 1, Value: []byte("x")},
		},
	}
	for key, rec := range records {
		require.NoError(t, e.Put(6, []byte(key), rec))
	}
	meta := record.SlotMeta{Epoch: 1, Promised: higher.Ballot, Floor: version(3), Cleared: version(50)}
	require.NoError(t, e.Clear(6, meta))
	requireMeta(t, e, 6, meta)
	for _, key := range []string{"older", "same", "older tombstone", "of a lower ballot"} {
		delete(records, key)
	}
	requireContents(t, e, 6, records)

	// Nothing is said about what is put afterwards.
	require.NoError(t, e.Put(6, []byte("same"), text(50, "x")))
	records["same"] = text(50, "x")
	requireContents(t, e, 6, records)

	meta.Cleared = higher
	require.NoError(t, e.Clear(6, meta))
	requireMeta(t, e, 6, meta)
	requireContents(t, e, 6, nil)
}

func testClearOfManyRecords(t *testing.T, e engine.Engine) {
	const n = 2000
	contents := put(t, e, lastSlot, n)
	for cleared := uint64(0); cleared <= n; cleared += n / 4 {
		require.NoError(t, e.Clear(lastSlot, record.SlotMeta{Cleared: version(cleared)}))
		for i := range int(cleared) {
			delete(contents, string(keyNumber(i)))
		}
		requireContents(t, e, lastSlot, contents)
	}
	requireContents(t, e, lastSlot, put(t, e, lastSlot, 100))
}

// testClearAfterClear clears again, and lower, and puts what the clears removed: a clear
// says nothing about what comes after it, whatever its version.
func testClearAfterClear(t *testing.T, e engine.Engine) {
	clearTo := func(seq uint64, contents map[string]record.Record) {
		t.Helper()
		require.NoError(t, e.Clear(5, record.SlotMeta{Epoch: seq, Cleared: version(seq)}))
		requireMeta(t, e, 5, record.SlotMeta{Epoch: seq, Cleared: version(seq)})
		requireContents(t, e, 5, contents)
	}
	clearTo(10, nil) // of an empty slot
	contents := put(t, e, 5, 10)
	requireContents(t, e, 5, contents)
	clearTo(0, contents)
	clearTo(10, nil)
	clearTo(10, nil)

	contents = put(t, e, 5, 3) // older than the clear
	requireContents(t, e, 5, contents)
	clearTo(2, map[string]record.Record{string(keyNumber(2)): contents[string(keyNumber(2))]})

	// What a clear removed does not come back when its key is written and removed.
	require.NoError(t, e.Put(5, keyNumber(0), text(1, "again")))
	require.NoError(t, e.Delete(5, keyNumber(0)))
	require.NoError(t, e.Delete(5, keyNumber(1)))
	require.NoError(t, e.Put(5, keyNumber(1), tombstone(1)))
	requireContents(t, e, 5, map[string]record.Record{
		string(keyNumber(1)): tombstone(1), string(keyNumber(2)): contents[string(keyNumber(2))],
	})

	// PutSlot is not a clear, and a lower Cleared brings nothing back.
	require.NoError(t, e.PutSlot(5, record.SlotMeta{Cleared: latest}))
	require.NoError(t, e.PutSlot(5, record.SlotMeta{}))
	requireContents(t, e, 5, map[string]record.Record{
		string(keyNumber(1)): tombstone(1), string(keyNumber(2)): contents[string(keyNumber(2))],
	})
	clearTo(1000, nil)
}

// testReset removes what no clear would.
func testReset(t *testing.T, e engine.Engine) {
	put(t, e, 6, 300)
	require.NoError(t, e.Put(6, []byte("latest"), record.Record{Version: latest, State: record.State{Type: record.String, ExpireAt: 1}}))
	meta := record.SlotMeta{Epoch: 1, Promised: latest.Ballot, Cleared: version(3), Rebuilding: true}
	require.NoError(t, e.Reset(6, meta))
	requireMeta(t, e, 6, meta)
	requireContents(t, e, 6, nil)
	contents := put(t, e, 6, 100)
	requireContents(t, e, 6, contents)
	requireExpired(t, e, 6, math.MaxInt64, nil)
	meta.Rebuilding = false
	require.NoError(t, e.PutSlot(6, meta))
	requireMeta(t, e, 6, meta)
	requireContents(t, e, 6, contents)
}
