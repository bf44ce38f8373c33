package route

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// lister is what a node holds of a database, and what it has promised.
type lister struct {
	id       database.ID
	keys     []string // at a place each
	promised uint64
	// later is what it has promised since the first page was shown.
	later uint64
	// wrong: it shows a page that stands still.
	wrong bool
	pages int
}

func (l *lister) answer(method protocol.Method, payload []byte) ([]byte, error) {
	if method != protocol.MethodList {
		return nil, errNotAnswered
	}
	asked, err := protocol.DecodeScanRequest(payload)
	if err != nil {
		return nil, err
	}
	slot := ring.SlotOfDatabase(l.id)
	page := protocol.ListPage{ScanPage: protocol.ScanPage{Next: protocol.NewPlace(slot+1, 0)}, Promised: record.Ballot{Counter: l.promised}}
	if l.pages++; l.pages > 1 && l.later > 0 {
		page.Promised.Counter = l.later
	}
	for i, key := range l.keys {
		at := protocol.NewPlace(slot, uint64(i+1))
		if at < asked.From {
			continue
		}
		if len(page.Entries) == asked.Limit {
			page.Next = at
			break
		}
		page.Entries = append(page.Entries, protocol.ScanEntry{Place: at, Key: l.id.Key([]byte(key)), Version: record.Version{Seq: uint64(i + 1)}, Type: record.String})
	}
	if l.wrong {
		page.Next = asked.From
	}
	return protocol.AppendListPage(nil, &page), nil
}

// TestListAllKeys of a database, in pages, as of the earliest promise, by a majority.
func TestListAllKeys(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	id := database.IDOf(1, true)
	all := numbered("key", 2500)
	listers := make([]*lister, len(f.nodes))
	with := func(change func(l []*lister)) {
		for i := range f.nodes {
			listers[i] = &lister{id: id, keys: all, promised: 7}
		}
		change(listers)
		for i, n := range f.nodes {
			n.mu.Lock()
			n.answers = listers[i].answer
			n.mu.Unlock()
		}
	}
	list := func(most int) (keys []string, promised uint64) {
		t.Helper()
		names, listing, err := c.List(t.Context(), id, most)
		require.NoError(t, err)
		require.Equal(t, id, listing.Database)
		for _, name := range names {
			of, key := database.Split(name)
			require.Equal(t, id, of)
			keys = append(keys, string(key))
		}
		return keys, listing.Promised.Counter
	}
	with(func([]*lister) {})
	keys, promised := list(10_000)
	require.ElementsMatch(t, all, keys)
	require.EqualValues(t, 7, promised)
	require.Greater(t, listers[0].pages, 1)
	with(func([]*lister) {})
	keys, _ = list(100)
	require.Greater(t, len(keys), 100)
	require.Less(t, len(keys), 200, "it stops when there are too many")
	with(func(l []*lister) { l[0].later, l[1].later, l[2].later = 9, 9, 9 })
	_, promised = list(10_000)
	require.EqualValues(t, 7, promised, "what the first page shows is of an earlier term")
	with(func(l []*lister) { l[2].promised, l[2].keys = 6, append(numbered("key", 2500), "late") })
	keys, promised = list(10_000)
	require.ElementsMatch(t, all, keys, "who has promised less does not count")
	require.EqualValues(t, 7, promised)
	with(func(l []*lister) { l[1].wrong = true })
	keys, _ = list(10_000)
	require.ElementsMatch(t, all, keys)
	with(func(l []*lister) { l[0].wrong, l[1].wrong = true, true })
	_, _, err := c.List(t.Context(), id, 10_000)
	require.ErrorIs(t, err, ErrNoMajority)
}
