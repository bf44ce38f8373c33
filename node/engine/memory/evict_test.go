package memory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

func evicting(p eviction.Policy, limit int64) *Engine {
	e := NewWithin(limit)
	s := eviction.DefaultSettings()
	s.Policy = p
	e.SetEviction(s)
	return e
}

func (e *Engine) set(t *testing.T, key, value string, expireAt int64) {
	t.Helper()
	require.NoError(t, e.Put(7, []byte(key), record.Record{Version: record.Version{Seq: 1}, State: record.State{Type: record.String, Value: []byte(value), ExpireAt: expireAt}}))
}

func sampled(e *Engine, from engine.Position) (keys []string) {
	e.Sample(7, from, func(s engine.Sampled) bool {
		keys = append(keys, string(s.Key))
		return true
	})
	return keys
}

// TestSample finds all that the policy would let go, once, wherever it begins, and neither deletions nor Quoll's own keys.
func TestSample(t *testing.T) {
	t.Parallel()
	for _, name := range eviction.Policies() {
		p, _ := eviction.ParsePolicy(name)
		e, want := evicting(p, 0), []string{}
		for i := range 100 {
			key, expireAt := fmt.Sprint("k", i), int64(i%3)
			e.set(t, key, "v", expireAt)
			if p.Evicts(expireAt) {
				want = append(want, key)
			}
		}
		require.NoError(t, e.Put(7, []byte("deleted"), record.Record{Version: record.Version{Seq: 2}}))
		e.set(t, database.Prefix+"own", "v", 9)
		for _, from := range []engine.Position{0, engine.EndPosition / 2, engine.EndPosition - 1} {
			require.ElementsMatch(t, want, sampled(e, from), name)
		}
		if p.Volatile() {
			require.Equal(t, len(want)+1, e.Evictable(7), "the own key is counted, too")
		}
		e.set(t, "k1", "v", 0)
		require.NoError(t, e.Delete(7, []byte("k2")))
		if p.Volatile() {
			require.Equal(t, len(want)-1, e.Evictable(7))
		}
	}
}

// TestSampleEnds: it does not look at a large slot without end for the few keys that expire.
func TestSampleEnds(t *testing.T) {
	t.Parallel()
	e := evicting(eviction.VolatileTTL, 0)
	for i := range 3 * sampleMost {
		e.set(t, fmt.Sprint(i), "v", 0)
	}
	e.set(t, "expires", "v", 9)
	pos, found := engine.PositionOf([]byte("expires")), 0
	for from := engine.Position(0); from < engine.EndPosition; from += engine.EndPosition / 64 {
		found += len(sampled(e, from))
	}
	require.Less(t, found, 64)
	require.Equal(t, []string{"expires"}, sampled(e, pos))
}

// TestUse: a use is noted where the policy asks for it, and takes no memory elsewhere.
func TestUse(t *testing.T) {
	t.Parallel()
	off, on := evicting(eviction.AllKeysRandom, 0), evicting(eviction.AllKeysLRU, 0)
	for _, e := range []*Engine{off, on} {
		e.SetClock(eviction.ClockOf(1000))
		e.set(t, "k", "v", 0)
		e.Use(7, []byte("k"))
		e.Use(7, []byte("absent"))
		e.Use(8, []byte("k"))
	}
	_, known := off.Used(7, []byte("k"))
	require.False(t, known)
	require.Less(t, off.arena.Used(), on.arena.Used())
	on.SetClock(eviction.ClockOf(6000))
	u, known := on.Used(7, []byte("k"))
	require.True(t, known)
	require.EqualValues(t, 5, u.Idle(eviction.ClockOf(6000)))
	on.Use(7, []byte("k"))
	u, _ = on.Used(7, []byte("k"))
	require.Zero(t, u.Idle(eviction.ClockOf(6000)))

	often := evicting(eviction.AllKeysLFU, 0)
	often.set(t, "k", "v", 0)
	for range 10_000 {
		often.Use(7, []byte("k"))
	}
	u, _ = often.Used(7, []byte("k"))
	require.Greater(t, u.Frequency(0, often.Eviction()), uint8(20))
}

// TestRoomWhileKeysAreEvicted: there is room for a sixteenth more than the limit, and waiting before that is used up.
func TestRoomWhileKeysAreEvicted(t *testing.T) {
	t.Parallel()
	const limit = 16 << 20
	e := evicting(eviction.AllKeysLRU, limit)
	fill := func(to int64) {
		for i := 0; e.arena.Used() < to; i++ {
			e.set(t, fmt.Sprint(to, i), strings.Repeat("v", 10_000), 0)
		}
	}
	fill(limit)
	require.NoError(t, e.Room())
	require.Zero(t, e.Pause())
	fill(limit + limit/17)
	require.NoError(t, e.Room())
	require.Greater(t, e.Pause(), time.Duration(0))
	e.SetExhausted(true)
	require.ErrorIs(t, e.Room(), engine.ErrCrowded)
	require.Zero(t, e.Pause(), "nothing would come of it")
	e.SetExhausted(false)
	fill(limit + limit/tolerant + 1)
	require.ErrorIs(t, e.Room(), engine.ErrCrowded)
	require.Equal(t, longestPause, e.Pause())
	e.SetLimit(2 * limit)
	require.NoError(t, e.Room())
}

// TestRoomWhileTheDataShrink: writes go on while what is beyond a lower limit is evicted, and are held to that limit from then on.
func TestRoomWhileTheDataShrink(t *testing.T) {
	t.Parallel()
	const limit = 16 << 20
	e := evicting(eviction.AllKeysLRU, limit)
	n := 0
	for ; e.arena.Used() < limit; n++ {
		e.set(t, fmt.Sprint(n), strings.Repeat("v", 10_000), 0)
	}
	e.SetLimit(limit / 4)
	require.NoError(t, e.Room())
	require.Equal(t, longestPause, e.Pause())
	e.SetExhausted(true)
	require.ErrorIs(t, e.Room(), engine.ErrBrimful, "nothing makes room")
	e.SetExhausted(false)
	for i := range n {
		require.NoError(t, e.Delete(7, fmt.Append(nil, i)))
		require.NoError(t, e.Room())
	}
	for i := 0; e.arena.Used() < limit/2; i++ {
		e.set(t, fmt.Sprint(i), strings.Repeat("v", 10_000), 0)
	}
	require.Error(t, e.Room())
}
