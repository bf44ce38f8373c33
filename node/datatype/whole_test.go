package datatype

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

// TestAllKeysOfADatabase: commands on all keys see what the commands before them have done, and no key of another database.
func TestAllKeysOfADatabase(t *testing.T) {
	id, other := database.IDOf(1, true), database.IDOf(1, false)
	str := record.State{Type: record.String, Value: []byte("1")}
	keys := [][]byte{id.Key([]byte("a")), id.Key([]byte("b")), other.Key([]byte("c")), id.All(), []byte("d")}
	k := NewKeyspace(keys, []record.State{str, {}, str, {}, str}, 1, func(r *command.Request) { r.MaxValue, r.MaxCollection, r.Random = 1<<20, 1<<20, 7 })
	do := func(op command.Op, args ...string) string {
		return string(k.ExecuteAll(nil, requestOf(op, args...), id))
	}
	require.Contains(t, do(command.OpDBSize, "dbsize"), "-ERR")
	require.Equal(t, [][]byte{id.All()}, k.Missing(), "they have to be listed first")
	k.HasAll(id)
	require.Equal(t, ":1\r\n", do(command.OpDBSize, "dbsize"))
	require.Equal(t, "+OK\r\n", string(k.Execute(nil, requestOf(command.OpSet, "set", string(keys[1]), "2"))))
	require.Equal(t, ":2\r\n", do(command.OpDBSize, "dbsize"))
	require.Equal(t, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", do(command.OpKeys, "keys", "*"))
	require.Equal(t, "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nb\r\n", do(command.OpScan, "scan", "17", "match", "b", "count", "1", "type", "STRING"))
	require.Equal(t, "*2\r\n$1\r\n0\r\n*0\r\n", do(command.OpScan, "scan", "0", "type", "list"))
	require.Equal(t, "-ERR invalid cursor\r\n", do(command.OpScan, "scan", "x"))
	require.Equal(t, "-ERR syntax error\r\n", do(command.OpScan, "scan", "0", "match"))
	require.Equal(t, "$1\r\nb\r\n", do(command.OpRandomKey, "randomkey"))
	require.Equal(t, "-ERR syntax error\r\n", do(command.OpFlushDB, "flushdb", "x"))
	require.Equal(t, "+OK\r\n", do(command.OpFlushDB, "flushdb", "async"))
	require.Equal(t, ":0\r\n", do(command.OpDBSize, "dbsize"))
	require.Equal(t, "$-1\r\n", do(command.OpRandomKey, "randomkey"))
	require.Contains(t, do(command.OpKeys, "keys"), "wrong number of arguments")
	effects := k.Effects()
	require.Equal(t, record.Effect{Kind: record.Replaced}, effects[0])
	require.Equal(t, record.Effect{Kind: record.Replaced}, effects[1])
	for _, at := range []int{2, 3, 4} {
		require.Equal(t, record.Effect{}, effects[at])
	}
}
