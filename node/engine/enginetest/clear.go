package enginetest

import (
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
