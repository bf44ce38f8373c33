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

// TestOnlyKeysThatArePlacedAreUsed: a node reads and writes keys by the names that the ring says, whatever a proxy says that has not heard of it, and none while their database is closed.
func TestOnlyKeysThatArePlacedAreUsed(t *testing.T) {
	c := newFormed(t, 1, soon)
	a := c.nodes["a"]
	c.decides()
	cl := c.dial(a)
	spread, together := string(database.IDOf(3, false).Key([]byte("k"))), string(database.IDOf(3, true).Key([]byte("k")))
	closed := "-" + command.ErrClosed + "\r\n"
	place := func(p change.Place) {
		t.Helper()
		require.NoError(t, a.Propose(t.Context(), change.Entry{By: "test", Place: &p}))
	}
	refused := func(name string) {
		t.Helper()
		for _, words := range []string{"get " + name, "set " + name + " 1", "del " + name} {
			require.Equal(t, closed, string(cl.do(words).Reply))
		}
		for _, kind := range []protocol.OpKind{protocol.ReadValue, protocol.ReadVersion} {
			require.Equal(t, protocol.StatusAskHome, cl.one(op(kind, "get "+name)).Status)
		}
		batch := command.Batch{Commands: []command.Request{op(protocol.Execute, "set "+name+" 1").Req}}
		require.Equal(t, closed, string(cl.one(protocol.Op{Kind: protocol.Execute, Slot: ring.SlotOf([]byte(name)), Req: batch.Request([]byte(name), false), Except: protocol.AllOthers}).Reply))
	}
	require.Equal(t, "+OK\r\n", string(cl.do("set "+spread+" 1").Reply))
	refused(together)
	place(change.Place{Database: 3, Close: true})
	refused(spread)
	refused(together)
	require.Equal(t, "+OK\r\n", string(cl.do("set k zero").Reply), "other databases go on")
	place(change.Place{Database: 3})
	require.Equal(t, ":1\r\n", string(cl.do("del "+spread).Reply))
	place(change.Place{Database: 3, Close: true})
	place(change.Place{Database: 3, Together: true})
	refused(spread)
	require.Equal(t, "+OK\r\n", string(cl.do("set "+together+" 1").Reply))
	require.Equal(t, protocol.StatusValue, cl.one(op(protocol.ReadValue, "get "+together)).Status)
}

func TestEveryMemberIsAskedForKeys(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, soon)
	a := c.nodes["a"]
	c.decides()
	version := a.Document().Version
	_, found, err := a.FindKey(t.Context(), database.ID(3), version)
	require.NoError(t, err)
	require.False(t, found)
	_, _, err = a.FindKey(t.Context(), database.ID(3), version+1)
	require.ErrorIs(t, err, errNotHeard)
	for _, together := range []bool{false, true} {
		for _, number := range []int{0, 3} {
			id := database.IDOf(number, together)
			name := id.Key([]byte("k"))
			require.NoError(t, a.Propose(t.Context(), change.Entry{Place: &change.Place{Database: number, Close: true}}))
			require.NoError(t, a.Propose(t.Context(), change.Entry{Place: &change.Place{Database: number, Together: together}}))
			c.agreed(func(d *change.Document) bool { return d.Version == a.Document().Version })
			c.set("a", string(name), "v")
			key, found, err := a.FindKey(t.Context(), id, version)
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, "k", string(key))
			for _, other := range []database.ID{4, database.IDOf(number, !together)} {
				_, found, err = a.FindKey(t.Context(), other, version)
				require.NoError(t, err)
				require.False(t, found)
			}
			require.Equal(t, ":1\r\n", string(c.dial(a).do("del "+string(name)).Reply))
		}
	}
	c.stop("c")
	_, _, err = a.FindKey(t.Context(), database.ID(3), version)
	require.ErrorContains(t, err, "node c")
}
