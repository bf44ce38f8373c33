package enginetest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

func expiring(seq uint64, at int64) record.Record {
	rec := text(seq, "expires")
	rec.State.ExpireAt = at
	return rec
}

// requireExpired requires that Expired visits the keys of the records that have
// expired, each once. It asks twice: the engine may have learnt from the first pass.
func requireExpired(t require.TestingT, e engine.Engine, slot uint16, now int64, contents map[string]record.Record) {
	want := map[string]bool{}
	for key, rec := range contents {
		if rec.State.Live() && rec.State.Expired(now) {
			want[key] = true
		}
	}
	for range 2 {
		got := map[string]bool{}
		looked, err := e.Expired(slot, now, func(key []byte) bool {
			require.False(t, got[string(key)], "%q visited twice", key)
			got[string(key)] = true
			return true
		})
		require.NoError(t, err)
		require.Equal(t, want, got, "expired at %d", now)
		require.True(t, looked || len(got) == 0, "found without looking")
	}
}

// testExpired moves the time both ways over records of which some expire.
func testExpired(t *testing.T, e engine.Engine) {
	contents := map[string]record.Record{
		"never":         text(1, "never expires"),
		"tombstone":     {Version: version(2), State: record.State{ExpireAt: 100}},
		"before time":   expiring(3, -100),
		"100":           expiring(4, 100),
		"also 100":      expiring(5, 100),
		"101":           expiring(6, 101),
		"end of time":   expiring(7, math.MaxInt64),
		"start of time": expiring(8, math.MinInt64),
	}
	requireExpired(t, e, 1, math.MaxInt64, nil)
	for key, rec := range contents {
		require.NoError(t, e.Put(1, []byte(key), rec))
	}
	for _, now := range []int64{0, 99, 100, 101, 100, math.MaxInt64, math.MinInt64, 1000, -1, 0} {
		requireExpired(t, e, 1, now, contents)
	}
	requireExpired(t, e, 2, math.MaxInt64, nil)
	requireContents(t, e, 1, contents)
}

// testExpiredIsToldWhatChanges changes what expires first in every way there is, after
// the engine was asked and may have noted when it has to look again.
func testExpiredIsToldWhatChanges(t *testing.T, e engine.Engine) {
	contents := map[string]record.Record{}
	put := func(key string, rec record.Record) {
		contents[key] = rec
		require.NoError(t, e.Put(3, []byte(key), rec))
	}
	ask := func() {
		t.Helper()
		for _, now := range []int64{0, 50, 100, 200, 300} {
			requireExpired(t, e, 3, now, contents)
		}
	}
	put("a", expiring(1, 100))
	put("b", expiring(2, 200))
	ask()
	put("a", expiring(3, 300)) // later
	ask()
	put("a", expiring(4, 50)) // earlier
	ask()
	put("a", text(5, "persistent"))
	ask()
	put("b", tombstone(6))
	ask()
	put("b", expiring(7, 200))
	put("c", expiring(20, 100))
	ask()
	delete(contents, "c")
	require.NoError(t, e.Delete(3, []byte("c")))
	ask()
	put("d", expiring(20, 100))
	require.NoError(t, e.Clear(3, record.SlotMeta{Cleared: version(10)}))
	delete(contents, "a")
	delete(contents, "b")
	ask()
	put("b", expiring(5, 50)) // older than the clear, but put after it
	ask()
	require.NoError(t, e.Clear(3, record.SlotMeta{Cleared: latest}))
	clear(contents)
	ask()
	put("a", expiring(1, 100))
	ask()
}

// testExpiredEnds stops in the middle, which must not make the engine believe that it
// has seen all.
func testExpiredEnds(t *testing.T, e engine.Engine) {
	const n = 500
	contents := map[string]record.Record{}
	for i := range n {
		rec := expiring(uint64(i), int64(i+1))
		require.NoError(t, e.Put(4, keyNumber(i), rec))
		contents[string(keyNumber(i))] = rec
	}
	for stop := 1; stop <= n; stop += 83 {
		visited := 0
		_, err := e.Expired(4, n, func([]byte) bool {
			visited++
			return visited < stop
		})
		require.NoError(t, err)
		require.Equal(t, stop, visited)
		requireExpired(t, e, 4, n/2, contents)
	}

	// As a sweeper does: a few at a time, until nothing is left.
	for len(contents) > 0 {
		var keys []string
		_, err := e.Expired(4, n, func(key []byte) bool {
			keys = append(keys, string(key))
			return len(keys) < 100
		})
		require.NoError(t, err)
		require.NotEmpty(t, keys)
		for i, key := range keys {
			if i%2 == 0 {
				require.NoError(t, e.Put(4, []byte(key), tombstone(n)))
			} else {
				require.NoError(t, e.Delete(4, []byte(key)))
			}
			delete(contents, key)
		}
	}
	requireExpired(t, e, 4, math.MaxInt64, nil)
}
