package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// TestAllKeysInABatch: a node shows what keys it holds of a database that is placed together, and what it has promised; a batch that reads all keys says what it misses until it names them.
func TestAllKeysInABatch(t *testing.T) {
	c := newFormed(t, 1, soon)
	a := c.nodes["a"]
	c.decides()
	cl := c.dial(a)
	require.NoError(t, a.Propose(t.Context(), change.Entry{By: "test", Place: &change.Place{Database: 3, Close: true}}))
	require.NoError(t, a.Propose(t.Context(), change.Entry{By: "test", Place: &change.Place{Database: 3, Together: true}}))
	id := database.IDOf(3, true)
	slot := ring.SlotOfDatabase(id)
	name := func(key string) string { return string(id.Key([]byte(key))) }
	for _, words := range []string{"set " + name("a") + " 1", "set " + name("b") + " 1", "set " + name("c") + " 1", "del " + name("c")} {
		require.Equal(t, protocol.StatusDone, cl.do(words).Status)
	}
	list := func(limit int) (keys []string, page protocol.ListPage) {
		from := protocol.NewPlace(slot, 0)
		for {
			reply, err := cl.caller.Call(t.Context(), protocol.MethodList, protocol.AppendScanRequest(nil,
				protocol.ScanRequest{Version: a.replicas.View().Table.Version(), From: from, Limit: limit, Of: protocol.OfDatabase(id)}))
			require.NoError(t, err)
			page, err = protocol.DecodeListPage(reply)
			require.NoError(t, err)
			for _, e := range page.Entries {
				require.LessOrEqual(t, from, e.Place)
				if e.Type.String() != "none" {
					keys = append(keys, string(e.Key))
				}
			}
			if from = page.Next; from == protocol.NewPlace(slot+1, 0) {
				return keys, page
			}
		}
	}
	keys, page := list(100)
	require.ElementsMatch(t, []string{name("a"), name("b")}, keys)
	require.False(t, page.Promised.IsZero())
	keys, _ = list(1)
	require.ElementsMatch(t, []string{name("a"), name("b")}, keys, "in pages")

	count := func(listing *command.Listing, also ...string) (reply string, missing []string) {
		size := requestOf("dbsize")
		size.Database = 3
		b := command.Batch{Array: true, Listing: listing, Commands: []command.Request{requestOf("set", name("d"), "1"), size}}
		for _, key := range also {
			b.Also = append(b.Also, []byte(key))
		}
		result := cl.one(together(name("d"), b))
		require.Equal(t, protocol.StatusDone, result.Status)
		names, _ := command.MissingKeys(result.Reply)
		for _, name := range names {
			missing = append(missing, string(name))
		}
		return string(result.Reply), missing
	}
	all := string(id.All())
	_, missing := count(nil)
	require.Equal(t, []string{all}, missing, "they have to be listed")
	_, missing = count(&command.Listing{Database: id}, all, name("a"), name("b"))
	require.Equal(t, []string{all}, missing, "they have been before this term")
	listing := &command.Listing{Database: id, Promised: page.Promised}
	_, missing = count(listing, all, name("a"))
	require.Equal(t, []string{name("b")}, missing, "one has come since")
	require.Equal(t, "$-1\r\n", string(cl.do("get "+name("d")).Reply), "nothing was done")
	reply, _ := count(listing, all, name("a"), name("b"))
	require.Equal(t, "*2\r\n+OK\r\n:3\r\n", reply)
	reply, _ = count(&command.Listing{Database: database.IDOf(4, true), Promised: page.Promised}, name("a"))
	require.Contains(t, reply, "CROSSSLOT")
	_, err := cl.caller.Call(t.Context(), protocol.MethodList, []byte{1})
	require.ErrorIs(t, err, protocol.ErrCall)
	_, err = cl.caller.Call(t.Context(), protocol.MethodList, protocol.AppendScanRequest(nil, protocol.ScanRequest{From: protocol.EndPlace}))
	require.ErrorIs(t, err, protocol.ErrCall, "there is no such slot")
	other := requestOf("keys", "*")
	require.Contains(t, string(cl.one(together("k", command.Batch{Array: true, Commands: []command.Request{other, requestOf("get", "k")}})).Reply), "is of all slots")
}
