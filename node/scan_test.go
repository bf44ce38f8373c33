package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/ring"
)

// scanAll scans a node page by page.
func (cl *client) scanAll(limit int) []protocol.ScanPage { return cl.scanOf(0, limit) }

// scanOf scans some of a node's records.
func (cl *client) scanOf(of protocol.Selection, limit int) []protocol.ScanPage {
	cl.t.Helper()
	var pages []protocol.ScanPage
	for from := protocol.Place(0); from != protocol.EndPlace; {
		payload, err := cl.caller.Call(cl.t.Context(), protocol.MethodScan, protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: 1, From: from, Limit: limit, Of: of}))
		require.NoError(cl.t, err)
		page, err := protocol.DecodeScanPage(payload)
		require.NoError(cl.t, err)
		for i, e := range page.Entries {
			require.GreaterOrEqual(cl.t, e.Place, from)
			require.Less(cl.t, e.Place, page.Next, "everything up to Next is there")
			require.True(cl.t, i == 0 || page.Entries[i-1].Place <= e.Place, "in order")
		}
		require.Less(cl.t, from, page.Next)
		from, pages = page.Next, append(pages, page)
	}
	return pages
}

// TestScanOfADatabase: only its keys are told, and a page ends also where none of very many is.
func TestScanOfADatabase(t *testing.T) {
	e := memory.New()
	want, others := map[int][]string{}, []string(nil)
	put := func(i int, name []byte) {
		require.NoError(t, e.Put(ring.SlotOf(name), name, record.Record{Version: record.Version{Seq: uint64(i + 1)}, State: record.State{Type: record.String}}))
	}
	for i := range 300 {
		number := []int{0, 3, 15}[i%3]
		name := database.IDOf(number, false).Key(fmt.Appendf(nil, "{%d}key-%d", i%7, i/3))
		put(i, name)
		want[number] = append(want[number], string(name))
		if number > 0 {
			others = append(others, string(name))
		}
	}
	for i := range maxScan + 1 {
		put(i, database.ID(7).Key(fmt.Appendf(nil, "{7}many-%d", i)))
	}
	put(0, []byte(database.Prefix+"own"))

	c := newFormed(t, 1, func(o *Options) { o.Engine = keeping{e} })
	cl := c.dial(c.nodes["a"])
	for _, limit := range []int{1, 50, 1 << 30} {
		for _, number := range []int{0, 3, 15, 9} {
			pages := cl.scanOf(protocol.OfDatabase(database.ID(number)), limit)
			require.ElementsMatch(t, want[number], keysOf(pages), "database %d, limit %d", number, limit)
			for _, page := range pages {
				require.NoError(t, page.Check(protocol.ScanRequest{Limit: limit}))
			}
			require.Greater(t, len(pages), 1, "a page ends behind the slot of many keys")
		}
	}
	keys := slices.DeleteFunc(keysOf(cl.scanOf(protocol.OfOthers, 1000)), func(key string) bool { return strings.Contains(key, "many") })
	require.ElementsMatch(t, others, keys)
}

func keysOf(pages []protocol.ScanPage) []string {
	var keys []string
	for _, page := range pages {
		for _, e := range page.Entries {
			keys = append(keys, string(e.Key))
		}
	}
	return keys
}

func TestScanPages(t *testing.T) {
	e := memory.New()
	var want []string
	for i := range 300 { // many in few slots, few in many
		key := fmt.Sprintf("{%d}key-%d", i%7, i)
		if i%3 == 0 {
			key = fmt.Sprint("key-", i)
		}
		want = append(want, key)
		slot := ring.SlotOf([]byte(key))
		require.NoError(t, e.Put(slot, []byte(key), record.Record{Version: record.Version{Seq: uint64(i + 1)}, State: record.State{Type: record.String}}))
	}
	gone, expired := "gone", "expired"
	require.NoError(t, e.Put(ring.SlotOf([]byte(gone)), []byte(gone), record.Record{Version: record.Version{Seq: 500}}))
	require.NoError(t, e.Put(ring.SlotOf([]byte(expired)), []byte(expired), record.Record{Version: record.Version{Seq: 501}, State: record.State{Type: record.String, ExpireAt: 1}}))
	want = append(want, gone, expired)
	slices.Sort(want)

	c := newFormed(t, 1, func(o *Options) { o.Engine = keeping{e} })
	cl := c.dial(c.nodes["a"])
	for _, limit := range []int{0, 1, 2, 50, 301, 302, 1 << 30} {
		pages := cl.scanAll(limit)
		keys := keysOf(pages)
		slices.Sort(keys)
		require.Equal(t, want, keys, "each once, with limit %d", limit)
		require.Equal(t, pages[len(pages)-1].Next, protocol.EndPlace)
		for _, page := range pages {
			require.LessOrEqual(t, len(page.Entries), max(1, limit))
		}
	}
	for _, page := range cl.scanAll(100) {
		for _, entry := range page.Entries {
			dead := string(entry.Key) == gone || string(entry.Key) == expired
			require.Equal(t, dead, entry.Type == record.None, "tombstones and expired values are told apart")
			require.False(t, entry.Version.IsZero())
		}
	}

	payload, err := cl.caller.Call(t.Context(), protocol.MethodStats, protocol.AppendVersion(nil, 1))
	require.NoError(t, err)
	counts, changed, err := protocol.DecodeSlotCounts(payload)
	require.NoError(t, err)
	require.Empty(t, changed)
	live := uint64(0)
	for _, count := range counts {
		live += count.Live
	}
	require.EqualValues(t, 301, live)
}

func TestScanHasOnlyTheSlotsOfTheNode(t *testing.T) {
	c := newFormed(t, 4, nil)
	for i := range 30 {
		key := fmt.Sprint("key-", i)
		slot := ring.SlotOf([]byte(key))
		for _, n := range c.nodes {
			if n.replicas.View().Table.Contains(slot, n.self().ID) {
				require.Equal(t, "+OK\r\n", string(c.dial(n).do("set "+key+" v").Reply))
				break
			}
		}
	}
	copies := map[string]int{}
	c.eventually(func() bool {
		clear(copies)
		for _, n := range c.nodes {
			for _, key := range keysOf(c.dial(n).scanAll(7)) {
				copies[key]++
			}
		}
		for i := range 30 {
			if copies[fmt.Sprint("key-", i)] != 3 {
				return false
			}
		}
		return true
	})
}

// tied is an engine in which several keys of a slot have one position.
type tied struct{ *memory.Engine }

const tiedSlot = 7

func tiedKeys() []string {
	return []string{"1a", "1b", "1c", "2a", "3a", "3b", "3c", "3d", "4a"}
}

func (tied) Scan(slot uint16, from engine.Position, visit func(engine.Position, []byte, record.Record) bool) error {
	if slot != tiedSlot {
		return nil
	}
	for _, key := range tiedKeys() {
		if pos := engine.Position(key[0]); pos >= from && !visit(pos, []byte(key), record.Record{}) {
			break
		}
	}
	return nil
}

func TestScanDoesNotTearEqualPositions(t *testing.T) {
	c := newFormed(t, 1, func(o *Options) { o.Engine = tied{memory.New()} })
	cl := c.dial(c.nodes["a"])
	for limit := 1; limit <= 10; limit++ {
		pages := cl.scanAll(limit) // which checks that a page has everything below its Next
		require.Equal(t, tiedKeys(), keysOf(pages), "limit %d", limit)
	}
}

// TestNothingIsToldOfASlotThatHasChanged: whoever asks would count this node among the members that it knows, or those that there are now. It is so as long as
// one of the two has not heard.
func TestNothingIsToldOfASlotThatHasChanged(t *testing.T) {
	c := newFormed(t, 1, nil)
	a := c.nodes["a"]
	cl := c.dial(a)
	var places []protocol.Place
	for i := range 50 {
		cl.do(fmt.Sprint("set k", i, " v"))
	}
	for _, page := range cl.scanAll(100) {
		for _, e := range page.Entries {
			places = append(places, e.Place)
		}
	}
	moved := places[20].Slot()
	require.True(t, a.replicas.Learn(changed(t, a, map[uint16]ring.Assignment{moved: {Replicas: []uint16{9}}})))
	ask := func(version uint64, from protocol.Place) (protocol.ScanPage, error) {
		payload, err := cl.caller.Call(t.Context(), protocol.MethodScan, protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: version, From: from, Limit: 100}))
		if err != nil {
			return protocol.ScanPage{}, err
		}
		page, err := protocol.DecodeScanPage(payload)
		require.NoError(t, page.Check(protocol.ScanRequest{From: from, Limit: 100}))
		return page, err
	}
	page, err := ask(1, 0)
	require.NoError(t, err)
	require.Equal(t, protocol.NewPlace(moved, 0), page.Next)
	require.Len(t, page.Entries, slices.IndexFunc(places, func(p protocol.Place) bool { return p.Slot() == moved }))
	_, err = ask(1, page.Next)
	require.True(t, protocol.IsChanged(err), "%v", err)
	require.False(t, a.replicas.Failed())
	page, err = ask(2, 0)
	require.NoError(t, err)
	require.Len(t, page.Entries, 49, "others hold the slot now")
	require.Equal(t, protocol.EndPlace, page.Next)
	_, err = ask(3, 0)
	require.True(t, protocol.IsChanged(err), "the node does not know that version")

	stats := func(version uint64) (live uint64, changed []uint16) {
		payload, err := cl.caller.Call(t.Context(), protocol.MethodStats, protocol.AppendVersion(nil, version))
		require.NoError(t, err)
		counts, changed, err := protocol.DecodeSlotCounts(payload)
		require.NoError(t, err)
		for _, n := range counts {
			live += n.Live
		}
		return live, changed
	}
	live, changed := stats(1)
	require.EqualValues(t, 49, live)
	require.Equal(t, []uint16{moved}, changed)
	live, changed = stats(2)
	require.EqualValues(t, 49, live)
	require.Empty(t, changed)
	_, err = cl.caller.Call(t.Context(), protocol.MethodStats, protocol.AppendVersion(nil, 3))
	require.True(t, protocol.IsChanged(err))
}
