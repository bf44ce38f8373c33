package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestSame: an absent key has not been there meanwhile if nothing above what was seen is known of it.
func TestSame(t *testing.T) {
	version := func(seq uint64) record.Version { return record.Version{Ballot: record.Ballot{Counter: 1}, Seq: seq} }
	value := func(seq uint64) *record.Record {
		return &record.Record{Version: version(seq), State: record.State{Type: record.String}}
	}
	absent := func(seq uint64) *record.Record { return &record.Record{Version: version(seq)} } // a tombstone, or the floor
	expired := &record.Record{Version: version(5), State: record.State{ExpireAt: 1}}
	for _, c := range []struct {
		name        string
		before, now *record.Record
		same        bool
	}{
		{"the same value", value(5), value(5), true},
		{"another value", value(5), value(6), false},
		{"a value is gone", value(5), absent(6), false},
		{"a value is gone, and its tombstone", value(5), absent(0), false},
		{"a value has expired", value(5), expired, false},
		{"still absent", absent(0), absent(0), true},
		{"still absent, the tombstone is purged", absent(5), absent(4), true},
		{"still absent, by the same tombstone", absent(5), absent(5), true},
		{"was there meanwhile, and its tombstone is left", absent(5), absent(7), false},
		{"was there meanwhile, and only the floor knows", absent(0), absent(7), false},
		{"came", absent(5), value(6), false},
		{"came, and has expired", absent(4), expired, false},
	} {
		require.Equal(t, c.same, same(appendSeen(nil, c.before), c.now), c.name)
	}
	require.Empty(t, appendSeen(nil, expired), "the next look will tell")
	require.False(t, same(nil, absent(0)))
}
