package register

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// anyBatch draws a record of batches.
func anyBatch(t *rapid.T) *batchRecord {
	number := rapid.Uint64()
	version := rapid.Custom(func(t *rapid.T) record.Version {
		return record.Version{Ballot: record.Ballot{Counter: number.Draw(t, "counter"), Incarnation: number.Draw(t, "incarnation")}, Seq: number.Draw(t, "seq")}
	})
	bytes := rapid.SliceOf(rapid.Byte())
	b := &batchRecord{origin: version.Draw(t, "origin")}
	for range rapid.IntRange(0, 4).Draw(t, "keys") {
		k := batchKey{name: bytes.Draw(t, "name"), seq: number.Draw(t, "seq"), base: version.Draw(t, "base")}
		if rapid.Bool().Draw(t, "live") {
			k.state = record.State{Type: record.Hash, ExpireAt: rapid.Int64().Draw(t, "expiry"), Value: bytes.Draw(t, "value")}
		}
		b.keys = append(b.keys, k)
	}
	return b
}

// TestABatchIsReadAsItWasWritten.
func TestABatchIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBatch(t)
		got, err := parseBatch(b.state())
		require.NoError(t, err)
		require.Equal(t, b.state(), got.state())
		require.Equal(t, b.origin, got.origin)
		require.Len(t, got.keys, len(b.keys))
		for i, k := range got.keys {
			require.Equal(t, string(b.keys[i].name), string(k.name))
			require.Equal(t, b.keys[i].seq, k.seq)
			require.Equal(t, b.keys[i].base, k.base)
			require.Equal(t, b.keys[i].state.ExpireAt, k.state.ExpireAt)
			require.Equal(t, string(b.keys[i].state.Value), string(k.state.Value))
			require.True(t, got.names(b.keys[i].name))
		}
	})
}

// FuzzBatch: whatever the record of batches is, it is read or refused.
func FuzzBatch(f *testing.F) {
	f.Add((&batchRecord{keys: []batchKey{{name: []byte("k"), seq: 2, state: record.State{Type: record.String, Value: []byte("v")}}}}).state().Value)
	f.Add([]byte("\x80"))
	f.Add([]byte("\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01k"))
	f.Fuzz(func(t *testing.T, value []byte) {
		b, err := parseBatch(record.State{Type: record.Batch, Value: value})
		if err != nil {
			require.ErrorIs(t, err, errBatchRecord)
			return
		}
		again, err := parseBatch(b.state())
		require.NoError(t, err)
		require.Equal(t, b.state(), again.state())
	})
}
