package route

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// scanAll scans from the start to the end.
func scanAll(t *testing.T, c *Coordinator, count int) (keys []string, pages int) {
	t.Helper()
	at := Cursor(0)
	for {
		entries, next, err := c.Scan(context.Background(), 0, at, count)
		require.NoError(t, err)
		pages++
		for _, e := range entries {
			require.Equal(t, record.String, e.Type, "%s", e.Key)
			keys = append(keys, string(e.Key))
		}
		if next == 0 {
			return keys, pages
		}
		require.Greater(t, next, at)
		require.Equal(t, next, Cursor(float64(next)), "client libraries keep it as a floating-point number")
		at = next
	}
}

func numbered(prefix string, n int) []string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprint(prefix, i))
	}
	return keys
}

// write makes keys part of what quorum reads find.
func (f *fakeRing) write(keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys {
		f.data[key] = held{1, "v"}
	}
}

func TestScanOfAllReplicas(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	all := numbered("key", 500)
	f.hold(1, record.String, all, 1, 2, 3)

	keys, pages := scanAll(t, c, 50)
	require.ElementsMatch(t, all, keys, "each once")
	require.GreaterOrEqual(t, pages, 10)
	keys, pages = scanAll(t, c, 1000)
	require.ElementsMatch(t, all, keys)
	require.Equal(t, 1, pages)
	require.Empty(t, f.seen(), "where replicas agree nothing is read")

	f.nodes[1].setDown(true)
	f.awaitUp(c, 2)
	keys, _ = scanAll(t, c, 70)
	require.ElementsMatch(t, all, keys, "a majority is enough")
	n, err := c.DBSize(context.Background(), 0)
	require.NoError(t, err)
	require.EqualValues(t, 500, n)
}

// Five nodes hold parts of the slots; what counts is the majority of each slot.
func TestScanOfARingLargerThanItsReplicas(t *testing.T) {
	t.Parallel()
	f := startRing(t, 5)
	c := f.coordinator(patient)
	all := numbered("key", 300)
	for _, key := range all {
		f.hold(1, record.String, []string{key}, f.table.Replicas(slotOfKey(key))...)
	}
	keys, _ := scanAll(t, c, 40)
	require.ElementsMatch(t, all, keys)
	f.nodes[4].setDown(true)
	f.awaitUp(c, 4)
	keys, _ = scanAll(t, c, 40)
	require.ElementsMatch(t, all, keys)
	n, err := c.DBSize(context.Background(), 0)
	require.NoError(t, err)
	require.EqualValues(t, 300, n)
}

func TestScanWhereReplicasDiffer(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	agreed, lagging, deleted, again, expiring := numbered("a", 50), numbered("l", 50), numbered("d", 50), numbered("n", 50), numbered("e", 50)
	f.hold(1, record.String, agreed, 1, 2, 3)
	f.hold(1, record.String, lagging, 2) // the others have it not yet
	f.hold(1, record.String, deleted, 1) // the others have the tombstone
	f.hold(2, record.None, deleted, 2, 3)
	f.hold(1, record.None, again, 1) // written again after a deletion
	f.hold(2, record.String, again, 2, 3)
	f.hold(1, record.None, expiring, 2) // expired by one of the clocks
	f.hold(1, record.String, expiring, 1, 3)
	f.hold(1, record.None, numbered("t", 50), 1, 2, 3) // tombstones
	f.write(slices.Concat(lagging[:20], again, expiring[:10]))

	keys, _ := scanAll(t, c, 30)
	require.ElementsMatch(t, slices.Concat(agreed, lagging[:20], again, expiring[:10]), keys)
}

// Where no majority of the replicas holds the same, the slot is scanned.
func TestDBSizeWhereReplicasDiffer(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	f.hold(1, record.String, numbered("k", 100), 1, 2, 3)
	f.hold(1, record.String, []string{"{x}a"}, 1, 2) // each holds two in this slot
	f.hold(1, record.String, []string{"{x}b"}, 2, 3)
	f.hold(1, record.String, []string{"{x}c"}, 3, 1)
	n, err := c.DBSize(context.Background(), 0)
	require.NoError(t, err)
	require.EqualValues(t, 103, n)
	require.Equal(t, 1, f.nodes[0].scanned)
}

// TestScanOfADatabaseThatIsTogether only goes through its slot. Nothing is scanned while the database is closed.
func TestScanOfADatabaseThatIsTogether(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	together := database.IDOf(3, true)
	want, kept := numbered("k", 300), []string(nil)
	for _, key := range want {
		kept = append(kept, string(together.Key([]byte(key))))
	}
	f.hold(1, record.String, kept, 1, 2, 3)
	f.hold(1, record.String, []string{string(database.ID(3).Key([]byte("spread"))), "k1", "k2"}, 1, 2, 3)
	placed := database.Placements{}.Place(3, true)
	c.placed.Store(&placed)
	var keys []string
	for at := Cursor(0); ; {
		entries, next, err := c.Scan(context.Background(), 3, at, 50)
		require.NoError(t, err)
		for _, e := range entries {
			keys = append(keys, string(e.Key))
		}
		if at = next; at == 0 {
			break
		}
		require.Equal(t, ring.SlotOfDatabase(together), at.place().Slot())
	}
	require.ElementsMatch(t, want, keys)
	n, err := c.DBSize(context.Background(), 3)
	require.NoError(t, err)
	require.EqualValues(t, 300, n)
	sizes, err := c.DBSizes(context.Background())
	require.NoError(t, err)
	require.Equal(t, []int64{2, 0, 0, 300}, sizes[:4])
	found := map[string]bool{}
	for range 40 {
		key, err := c.RandomKey(context.Background(), 3)
		require.NoError(t, err)
		require.Contains(t, want, string(key))
		found[string(key)] = true
	}
	require.Greater(t, len(found), 3)

	placed = placed.Close(3)
	c.placed.Store(&placed)
	_, _, err = c.Scan(context.Background(), 3, 0, 50)
	require.ErrorIs(t, err, errClosed)
	_, err = c.DBSize(context.Background(), 3)
	require.ErrorIs(t, err, errClosed)
	_, err = c.RandomKey(context.Background(), 3)
	require.ErrorIs(t, err, errClosed)
	key, err := c.RandomKey(context.Background(), 0)
	require.NoError(t, err)
	require.Contains(t, []string{"k1", "k2"}, string(key))
}

func TestScanWithoutMajority(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	f.hold(1, record.String, numbered("k", 10), 1, 2, 3)
	f.nodes[0].setDown(true)
	f.nodes[1].setDown(true)
	f.awaitUp(c, 1)
	ctx := context.Background()
	_, _, err := c.Scan(ctx, 0, 0, 10)
	require.ErrorIs(t, err, ErrNoMajority)
	_, err = c.DBSize(ctx, 0)
	require.ErrorIs(t, err, ErrNoMajority)
	_, err = c.RandomKey(ctx, 0)
	require.ErrorIs(t, err, ErrNoMajority)
	require.ErrorIs(t, c.FlushAll(ctx), ErrNoMajority)
}

// A node that is silent costs a scan the time-out at most.
func TestScanWithASilentNode(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(300 * time.Millisecond)
	all := numbered("k", 10)
	f.hold(1, record.String, all, 1, 2, 3)
	f.nodes[0].freeze()
	began := time.Now()
	keys, _ := scanAll(t, c, 100)
	require.ElementsMatch(t, all, keys)
	require.Less(t, time.Since(began), 300*time.Millisecond+slack)
	f.nodes[0].thaw()
}

func TestScanFromStrangeCursors(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	f.hold(1, record.String, numbered("k", 10), 1, 2, 3)
	for _, at := range []Cursor{1 << 62, 1<<64 - 1, endCursor, endCursor - 1} {
		entries, next, err := c.Scan(context.Background(), 0, at, 10)
		require.NoError(t, err)
		require.Empty(t, entries)
		require.Zero(t, next)
	}
}

func TestRandomKeyOfTheCluster(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key, err := c.RandomKey(context.Background(), 0)
	require.NoError(t, err)
	require.Nil(t, key)

	all := numbered("k", 40)
	f.hold(1, record.String, all, 1, 2, 3)
	found := map[string]bool{}
	for range 40 {
		key, err := c.RandomKey(context.Background(), 0)
		require.NoError(t, err)
		require.Contains(t, all, string(key))
		found[string(key)] = true
	}
	require.Greater(t, len(found), 3)
}

func TestFlushAllClearsSlots(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	all := numbered("k", 2000)
	f.hold(1, record.String, all[:1990], 1, 2, 3)
	f.hold(1, record.String, all[1990:], 2, 3) // one has not got them yet
	f.write(all)
	slots := map[uint16]bool{}
	for _, key := range all {
		slots[slotOfKey(key)] = true
	}
	require.NoError(t, c.FlushAll(context.Background()))
	require.Empty(t, f.data)
	cleared := map[uint16]int{}
	for _, r := range f.log {
		require.Equal(t, command.OpClear, r.Req.Op)
		require.Equal(t, f.table.Replicas(r.Slot)[0], r.node.id, "at the home")
		cleared[r.Slot]++
	}
	require.Len(t, cleared, len(slots), "every slot that holds something, and no other")
	for slot, n := range cleared {
		require.True(t, slots[slot])
		require.Equal(t, 1, n)
	}

	f.play(func(r *request) {
		if r.Slot%2 == 0 {
			r.notDone(answer.Overloaded, 0)
			return
		}
		f.answer(r)
	})
	c = f.coordinator(200 * time.Millisecond)
	c.cfg.SlowTimeout = 500 * time.Millisecond // slots whose home has too much to do are tried until then
	require.ErrorIs(t, c.FlushAll(context.Background()), errPartlyFlushed)
}

// TestFlushAllSparesSlots: the slot of a key of Quoll's own that is kept is not cleared, and loses all keys of clients.
func TestFlushAllSparesSlots(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	const kept = "\xffquoll:kept{k1}"
	all := numbered("k", 300)
	for i := range 3000 { // more than one page
		all = append(all, fmt.Sprintf("{k1}%d", i))
	}
	all = append(all, string(database.ID(3).Key([]byte("{k1}"))))
	f.hold(1, record.String, all, 1, 2, 3)
	f.write(append(all, kept)) // which no scan shows
	require.NoError(t, c.FlushAll(context.Background(), []byte(kept)))
	require.Len(t, f.data, 1)
	require.Contains(t, f.data, kept)
	for _, r := range f.log {
		require.Equal(t, r.Slot == slotOfKey(kept), r.Req.Op == command.OpFlushKey)
		require.Equal(t, r.Slot != slotOfKey(kept), r.Req.Op == command.OpClear)
	}
}

// TestScanWithANodeThatLies: one node's page can neither end an iteration too early, nor
// lead it in circles, nor hide a key. It counts as no answer.
func TestScanWithANodeThatLies(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	all := numbered("k", 20)
	f.hold(1, record.String, all, 1, 2, 3)
	for i, key := range []string{"{x}a", "{x}b", "{x}c"} { // so that DBSIZE has to scan a slot
		f.hold(1, record.String, []string{key}, uint16(1+i), uint16(1+(i+1)%3))
		all = append(all, key)
	}
	f.write(all)
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	phantom := protocol.ScanEntry{Place: protocol.NewPlace(9, 9), Key: []byte("phantom"), Type: record.String}
	for name, forge := range map[string]func(from protocol.Place) protocol.ScanPage{
		"stands still":        func(from protocol.Place) protocol.ScanPage { return protocol.ScanPage{Next: from} },
		"goes back":           func(protocol.Place) protocol.ScanPage { return protocol.ScanPage{} },
		"creeps":              func(from protocol.Place) protocol.ScanPage { return protocol.ScanPage{Next: from + 1} },
		"goes beyond the end": func(protocol.Place) protocol.ScanPage { return protocol.ScanPage{Next: protocol.EndPlace + 1} },
		"lists what was not asked for": func(from protocol.Place) protocol.ScanPage {
			return protocol.ScanPage{Next: protocol.EndPlace, Entries: []protocol.ScanEntry{{Place: from - 1, Key: []byte("k")}}}
		},
		"lists more than was asked for": func(from protocol.Place) protocol.ScanPage {
			page := protocol.ScanPage{Next: protocol.EndPlace}
			for i := range protocol.Place(1000) {
				page.Entries = append(page.Entries, protocol.ScanEntry{Place: min(from+i, protocol.EndPlace-1), Key: []byte("k"), Type: record.String})
			}
			return page
		},
		"lists the same twice": func(from protocol.Place) protocol.ScanPage {
			if from > phantom.Place {
				return protocol.ScanPage{Next: protocol.EndPlace}
			}
			return protocol.ScanPage{Next: protocol.EndPlace, Entries: []protocol.ScanEntry{phantom, phantom}}
		},
		"lists nothing": func(protocol.Place) protocol.ScanPage { return protocol.ScanPage{Next: protocol.EndPlace} },
	} {
		liar := f.nodes[0]
		liar.mu.Lock()
		liar.forge = func(from protocol.Place, _ []byte) []byte {
			page := forge(from)
			return protocol.AppendScanPage(nil, &page)
		}
		liar.mu.Unlock()
		var keys []string
		for at := Cursor(0); ; {
			entries, next, err := c.Scan(ctx, 0, at, 7)
			require.NoError(t, err, name)
			for _, e := range entries {
				keys = append(keys, string(e.Key))
			}
			if next == 0 {
				break
			}
			require.Greater(t, next, at, name)
			at = next
		}
		require.ElementsMatch(t, all, keys, name)
		n, err := c.DBSize(ctx, 0)
		require.NoError(t, err, name)
		require.EqualValues(t, len(all), n, name)
		_, err = c.RandomKey(ctx, 0)
		require.NoError(t, err, name)
	}
}
