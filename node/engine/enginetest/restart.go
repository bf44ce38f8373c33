package enginetest

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// again calls check with the engine as it is, after a restart, after a crash that follows
// a commit, and after a second restart, which must not undo what recovery has done.
func again(t *testing.T, s *store, check func()) {
	t.Helper()
	check()
	s.restart(t)
	check()
	commit(t, s)
	s.crash(t)
	check()
	if !testing.Short() {
		s.restart(t)
		check()
	}
}

func testRestartKeepsEverything(t *testing.T, s *store) {
	again(t, s, func() { newModel(modelSlots).requireIn(t, s, 0) })

	meta := record.SlotMeta{Epoch: 1<<63 + 5, Promised: latest.Ballot, Floor: version(2), Cleared: version(1), Rebuilding: true, Unsure: true}
	require.NoError(t, s.PutSlot(3, meta))
	contents := put(t, s, 3, 100)
	extreme := map[string]record.Record{
		"":                                      text(1, "the empty key"),
		"\x00\xff":                              {Version: latest, State: record.State{Type: 255, ExpireAt: math.MinInt64}},
		string(bytes.Repeat([]byte("k"), 70e3)): text(math.MaxUint64, "a long key"),
		"tombstone":                             tombstone(9),
		"tombstone with expiry":                 {Version: version(9), State: record.State{ExpireAt: 17}},
		"zero":                                  {},
		"overwritten":                           text(2, "the second value"),
	}
	require.NoError(t, s.Put(3, []byte("overwritten"), text(1, "the first value")))
	for key, rec := range extreme {
		contents[key] = rec
		require.NoError(t, s.Put(3, []byte(key), rec))
	}
	for i := range 10 {
		require.NoError(t, s.Delete(3, keyNumber(i)))
		delete(contents, string(keyNumber(i)))
	}
	again(t, s, func() {
		requireContents(t, s, 3, contents)
		requireMeta(t, s, 3, meta)
		requireContents(t, s, 4, nil)
		requireMeta(t, s, 4, record.SlotMeta{})
		for i := range 10 {
			requireMissing(t, s, 3, keyNumber(i))
		}
	})
}

// testRestartOfManySlots writes to all slots there are, or to many.
func testRestartOfManySlots(t *testing.T, s *store) {
	step := uint16(1)
	if testing.Short() {
		step = 5
	}
	var want engine.SlotStats
	for slot := uint16(0); slot < engine.Slots; slot += step {
		rec := text(uint64(slot)+1, "value")
		key := manySlotsKey(slot)
		require.NoError(t, s.Put(slot, key, rec))
		require.NoError(t, s.PutSlot(slot, record.SlotMeta{Epoch: uint64(slot)}))
		want.Add(key, rec)
	}
	again(t, s, func() {
		got, err := s.Totals()
		require.NoError(t, err)
		require.Equal(t, want, got)
		for slot := uint16(0); slot < engine.Slots; slot += 40 {
			requireContents(t, s, slot, map[string]record.Record{string(manySlotsKey(slot)): text(uint64(slot)+1, "value")})
			requireMeta(t, s, slot, record.SlotMeta{Epoch: uint64(slot)})
		}
	})
}

// manySlotsKey returns the key of a slot: two of three are of another database than 0.
func manySlotsKey(slot uint16) []byte {
	return database.ID(slot % 3).Key(fmt.Append(nil, slot))
}

func testRestartAfterClears(t *testing.T, s *store) {
	contents := map[string]record.Record{}
	check := func() { t.Helper(); again(t, s, func() { requireContents(t, s, 6, contents) }) }
	clearTo := func(seq uint64) {
		t.Helper()
		require.NoError(t, s.Clear(6, record.SlotMeta{Cleared: version(seq)}))
		for key, rec := range contents {
			if !version(seq).Less(rec.Version) {
				delete(contents, key)
			}
		}
		requireMeta(t, s, 6, record.SlotMeta{Cleared: version(seq)})
	}
	contents = put(t, s, 6, 100)
	check()
	clearTo(50) // the others survive
	check()
	clearTo(60) // survivors of survivors, and what is older than a clear
	contents[string(keyNumber(3))] = text(3, "again")
	require.NoError(t, s.Put(6, keyNumber(3), text(3, "again")))
	check()
	require.NoError(t, s.Delete(6, keyNumber(3)))
	require.NoError(t, s.Delete(6, keyNumber(99)))
	delete(contents, string(keyNumber(3)))
	delete(contents, string(keyNumber(99)))
	check()
	clearTo(1000)
	clearTo(1000)
	clearTo(5)
	check()
	contents = put(t, s, 6, 10)
	check()
	clearTo(5)
	s.maintain(t)
	check()
	require.NoError(t, s.Reset(6, record.SlotMeta{Rebuilding: true, Unsure: true}))
	contents = put(t, s, 6, 5)
	check()
	s.maintain(t)
	check()
	requireMeta(t, s, 6, record.SlotMeta{Rebuilding: true, Unsure: true})
}

// testRestartAfterClearOfManyRecords ends the engine before it can have removed what was
// cleared.
func testRestartAfterClearOfManyRecords(t *testing.T, s *store) {
	n := 10_000
	if testing.Short() {
		n = 3000
	}
	put(t, s, 6, n)
	s.restart(t)
	for _, end := range []func(require.TestingT){s.restart, s.crash} {
		require.NoError(t, s.Clear(6, record.SlotMeta{Cleared: version(uint64(n))}))
		commit(t, s)
		end(t)
		requireContents(t, s, 6, nil)
		contents := put(t, s, 6, n/10)
		commit(t, s)
		end(t)
		requireContents(t, s, 6, contents)
		s.maintain(t)
		requireContents(t, s, 6, contents)
	}
}

func testRestartWithLargeValues(t *testing.T, s *store) {
	contents := map[string]record.Record{}
	for i, size := range []int{0, 1, 1 << 10, 1<<20 - 100, 1 << 20, 1<<20 + 1, 5 << 20} {
		rec := text(uint64(i), string(randomBytes(uint64(i), size)))
		contents[fmt.Sprint(size)] = rec
		require.NoError(t, s.Put(1, []byte(fmt.Sprint(size)), rec))
	}
	again(t, s, func() { requireContents(t, s, 1, contents) })
	for key, rec := range contents {
		rec.Version.Seq += 100
		rec.State.Value = rec.State.Value[:len(rec.State.Value)/2]
		contents[key] = rec
		require.NoError(t, s.Put(1, []byte(key), rec))
	}
	again(t, s, func() { requireContents(t, s, 1, contents) })
}

func testExpiredAfterRestart(t *testing.T, s *store) {
	contents := map[string]record.Record{"never": text(1, "never"), "tombstone": tombstone(2)}
	require.NoError(t, s.Put(2, []byte("never"), contents["never"]))
	require.NoError(t, s.Put(2, []byte("tombstone"), contents["tombstone"]))
	for i := range 50 {
		key := string(keyNumber(i))
		contents[key] = expiring(uint64(i), int64(100+i))
		require.NoError(t, s.Put(2, []byte(key), contents[key]))
	}
	check := func() {
		for _, now := range []int64{99, 100, 120, 1000} {
			requireExpired(t, s, 2, now, contents)
		}
	}
	again(t, s, check)
	require.NoError(t, s.Put(2, keyNumber(0), expiring(60, 5)))
	contents[string(keyNumber(0))] = expiring(60, 5)
	require.NoError(t, s.Put(2, keyNumber(1), text(61, "persistent")))
	contents[string(keyNumber(1))] = text(61, "persistent")
	again(t, s, check)
}

// testScanAfterRestart scans a slot of which, at first, only a part may be in memory, and
// changes it.
func testScanAfterRestart(t *testing.T, s *store) {
	const n = 3000
	contents := put(t, s, 2, n)
	for i, key := range keysWithOnePosition(t, 100) {
		contents[string(key)] = text(uint64(i), "equal")
		require.NoError(t, s.Put(2, key, contents[string(key)]))
	}
	s.restart(t)
	for i := 0; i < n; i += 3 {
		key := string(keyNumber(i))
		switch i % 4 {
		case 0:
			delete(contents, key)
			require.NoError(t, s.Delete(2, []byte(key)))
		case 1:
			contents[key] = text(n+uint64(i), "changed")
			require.NoError(t, s.Put(2, []byte(key), contents[key]))
		case 2:
			requireRecord(t, s, 2, []byte(key), contents[key])
		case 3:
			contents["new"+key] = text(n+uint64(i), "new")
			require.NoError(t, s.Put(2, []byte("new"+key), contents["new"+key]))
		}
		if i%100 == 0 {
			from := engine.PositionOf([]byte(key))
			for _, item := range scan(t, s, 2, from, 20) {
				requireEqual(t, item.key, contents[item.key], item.rec)
			}
		}
	}
	again(t, s, func() { requireContents(t, s, 2, contents) })
}

// testCloseCommits closes while a commit is under way, and with nothing committed.
func testCloseCommits(t *testing.T, s *store) {
	contents := put(t, s, 1, 50)
	done := make(chan error, 2)
	s.Commit(func(err error) { done <- err })
	last := text(100, "never committed")
	contents["last"] = last
	require.NoError(t, s.Put(1, []byte("last"), last))
	s.restart(t)
	require.Len(t, done, 1, "the commit has called back before Close returned")
	require.NoError(t, <-done)
	requireContents(t, s, 1, contents)
}

// testValuesOutliveTheEngine uses what Get and Scan returned after the engine is gone.
func testValuesOutliveTheEngine(t *testing.T, s *store) {
	contents := put(t, s, 1, 500)
	contents["large"] = text(1, string(randomBytes(1, 3<<20)))
	require.NoError(t, s.Put(1, []byte("large"), contents["large"]))
	s.restart(t) // so that they come from the disk
	items := scan(t, s, 1, 0, math.MaxInt)
	got := map[string]record.Record{}
	for key := range contents {
		rec, _, err := s.Get(1, []byte(key))
		require.NoError(t, err)
		rec.State = rec.State.Keep()
		got[key] = rec
	}
	s.restart(t)
	require.Len(t, items, len(contents))
	for _, item := range items {
		requireEqual(t, item.key, contents[item.key], item.rec)
		requireEqual(t, item.key, contents[item.key], got[item.key])
	}
}

func testUsageAfterRestart(t *testing.T, s *store) {
	const n, size = 300, 10 << 10
	for i := range n {
		require.NoError(t, s.Put(1, keyNumber(i), text(uint64(i), string(randomBytes(uint64(i), size)))))
	}
	again(t, s, func() {
		require.NoError(t, s.Room())
		requireSound(t, s.Usage())
		require.NotZero(t, s.Usage().Free)
	})
	require.GreaterOrEqual(t, s.Usage().Disk, uint64(n*size))
}
