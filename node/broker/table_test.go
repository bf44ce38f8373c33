package broker

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/scan"
)

// wants is what a plain list of all interests says.
type wants map[int]map[protocol.InterestKind]map[string]uint64

func (w wants) find(shard bool, channel string) (conns []int, clients uint64) {
	for conn, kinds := range w {
		n := kinds[protocol.OfChannel][channel]
		for pattern, more := range kinds[protocol.OfPattern] {
			if scan.MatchChannel([]byte(pattern), []byte(channel)) {
				n += more
			}
		}
		if shard {
			n = kinds[protocol.OfShardChannel][channel]
		}
		if n > 0 {
			conns, clients = append(conns, conn), clients+n
		}
	}
	slices.Sort(conns)
	return conns, clients
}

// TestTable: whatever connections say and whenever they end, a message is for those who want it.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, want := NewTable[int](), wants{}
		names := rapid.SampledFrom([]string{"", "a", "ab", "abc", "a*", "*", "?b", "[ab]*", "*b*"})
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				conn, kind, name := rapid.IntRange(1, 3).Draw(t, "conn"), protocol.InterestKind(rapid.IntRange(0, 2).Draw(t, "kind")), names.Draw(t, "name")
				n := rapid.Uint64Range(0, 3).Draw(t, "clients")
				require.NoError(t, table.Set(conn, protocol.Interest{Kind: kind, Clients: n, Name: []byte(name)}))
				if want[conn] == nil {
					want[conn] = map[protocol.InterestKind]map[string]uint64{}
				}
				if want[conn][kind] == nil {
					want[conn][kind] = map[string]uint64{}
				}
				if want[conn][kind][name] = n; n == 0 {
					delete(want[conn][kind], name)
				}
			},
			"drop": func(t *rapid.T) {
				conn := rapid.IntRange(1, 3).Draw(t, "conn")
				table.Drop(conn)
				delete(want, conn)
			},
			"": func(t *rapid.T) {
				for _, channel := range []string{"", "a", "ab", "abc", "b"} {
					for _, shard := range []bool{false, true} {
						conns, clients := table.Find(nil, shard, []byte(channel))
						slices.Sort(conns)
						wantConns, wantClients := want.find(shard, channel)
						require.Equal(t, wantConns, conns)
						require.Equal(t, wantClients, clients)
					}
				}
			},
		})
	})
}

// TestInterestIsBounded: a proxy that says more than it may is an error, and what it takes back makes room.
func TestInterestIsBounded(t *testing.T) {
	table := NewTable[int]()
	name := []byte(strings.Repeat("x", protocol.MaxName))
	most := protocol.MaxInterest / (protocol.MaxName + protocol.InterestCost)
	set := func(i int, clients uint64) error {
		copy(name, []byte{byte(i), byte(i >> 8)})
		return table.Set(1, protocol.Interest{Clients: clients, Name: name})
	}
	for i := range most {
		require.NoError(t, set(i, 1))
	}
	require.ErrorIs(t, set(most, 1), ErrTooMuch)
	require.NoError(t, set(0, 7), "what is known takes no more")
	require.NoError(t, set(0, 0))
	require.NoError(t, set(most, 1))
	require.NoError(t, table.Set(2, protocol.Interest{Clients: 1, Name: name}), "others have room of their own")
	table.Drop(1)
	table.Drop(2)
	require.Empty(t, table.held)
	for kind := range table.by {
		require.Empty(t, table.by[kind])
	}
}

func TestAnswer(t *testing.T) {
	table := NewTable[int]()
	for conn, i := range []protocol.Interest{
		{Kind: protocol.OfChannel, Clients: 2, Name: []byte("news")},
		{Kind: protocol.OfChannel, Clients: 3, Name: []byte("news")},
		{Kind: protocol.OfPattern, Clients: 5, Name: []byte("n*")},
		{Kind: protocol.OfShardChannel, Clients: 7, Name: []byte("other")},
	} {
		require.NoError(t, table.Set(conn, i))
	}
	names := [][]byte{[]byte("news"), []byte("other")}
	require.Equal(t, []uint64{5, 0}, table.Answer(&protocol.PubSubQuestion{Query: protocol.QueryCounts, Names: names}).Counts)
	require.Equal(t, []uint64{0, 7}, table.Answer(&protocol.PubSubQuestion{Query: protocol.QueryCounts, Shard: true, Names: names}).Counts)
	require.Equal(t, []uint64{1}, table.Answer(&protocol.PubSubQuestion{Query: protocol.QueryPatterns}).Counts)
	require.Equal(t, names[:1], table.Answer(&protocol.PubSubQuestion{Query: protocol.QueryNames}).Names)
	require.Equal(t, names[1:], table.Answer(&protocol.PubSubQuestion{Query: protocol.QueryNames, Shard: true, Names: [][]byte{[]byte("o*")}}).Names)
	require.Empty(t, table.Answer(&protocol.PubSubQuestion{Query: protocol.QueryNames, Names: [][]byte{[]byte("o*")}}).Names)
}
