package eviction

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, name := range Policies() {
		p, err := ParsePolicy(name)
		require.NoError(t, err)
		require.Equal(t, name, p.String())
	}
	p, err := ParsePolicy("AllKeys-LRU")
	require.NoError(t, err)
	require.Equal(t, AllKeysLRU, p)
	_, err = ParsePolicy("lru")
	require.ErrorIs(t, err, ErrPolicy)
}

// TestWhatMayGo: nothing under noeviction, and under volatile policies only what expires.
func TestWhatMayGo(t *testing.T) {
	t.Parallel()
	for _, name := range Policies() {
		p, _ := ParsePolicy(name)
		require.Equal(t, name != "noeviction", p.Evicts(7), name)
		require.Equal(t, name[:7] == "allkeys", p.Evicts(0), name)
	}
}

func TestRecency(t *testing.T) {
	t.Parallel()
	s := Settings{Policy: AllKeysLRU}
	rapid.Check(t, func(t *rapid.T) {
		created := rapid.Int64Range(0, 1<<40).Draw(t, "created")
		idle := rapid.Int64Range(0, 365*24*3600*1000).Draw(t, "idle")
		u := New(ClockOf(created), &s)
		now := ClockOf(created + idle)
		require.InDelta(t, idle/1000, u.Idle(now), 1)
		require.Zero(t, u.Used(now, &s, 0).Idle(now))
		older := New(ClockOf(created-1000), &s)
		require.Greater(t, s.Rank(older, 0, now), s.Rank(u, 0, now), "who was used longer ago goes first")
	})
}

// TestFrequency compares the counter with what Redis' formulas give.
func TestFrequency(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Settings{Policy: AllKeysLFU, LogFactor: rapid.IntRange(0, 100).Draw(t, "factor"), DecayTime: rapid.IntRange(0, 5).Draw(t, "decay")}
		now, counter, minute := int64(0), 5, int64(0)
		u := New(ClockOf(now), &s)
		for range rapid.IntRange(0, 50).Draw(t, "uses") {
			now += rapid.Int64Range(0, 200_000).Draw(t, "wait")
			random := rapid.Uint32().Draw(t, "random")
			switch at := now / 60_000; {
			case s.DecayTime > 0:
				counter = max(0, counter-int(at-minute)/s.DecayTime)
				minute = at
			default:
				counter, minute = 0, at
			}
			if counter < 255 && float64(random)/(1<<32) < 1/(float64(max(counter-5, 0)*s.LogFactor)+1) {
				counter++
			}
			u = u.Used(ClockOf(now), &s, random)
			require.EqualValues(t, counter, uint8(u))
		}
		before := ClockOf(now)
		if s.DecayTime > 0 {
			require.EqualValues(t, counter, u.Frequency(before, &s))
			require.LessOrEqual(t, s.Rank(u, 0, before), s.Rank(u, 0, ClockOf(now+3_600_000)), "who is not used goes sooner")
		} else {
			require.Zero(t, u.Frequency(before, &s))
		}
	})
}

func TestTimeToLive(t *testing.T) {
	t.Parallel()
	s := Settings{Policy: VolatileTTL}
	require.Greater(t, s.Rank(0, 1000, 0), s.Rank(0, 2000, 0), "who expires sooner goes first")
}

// TestPool: of all that was added the pool gives the best, once each, the best first.
func TestPool(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var p Pool
		ranks := []uint64{}
		for i := range rapid.IntRange(0, 60).Draw(t, "candidates") {
			c := Candidate{Slot: uint16(i % 3), Key: fmt.Append(nil, i/3), Rank: rapid.Uint64Range(0, math.MaxUint8).Draw(t, "rank")}
			if ranks = append(ranks, c.Rank); !p.Wants(c.Rank) {
				require.GreaterOrEqual(t, len(ranks), PoolSize)
			}
			p.Add(c)
			p.Add(c)
		}
		slices.Sort(ranks)
		slices.Reverse(ranks)
		taken := []uint64{}
		for c, ok := p.Take(); ok; c, ok = p.Take() {
			taken = append(taken, c.Rank)
		}
		require.Equal(t, ranks[:min(len(ranks), PoolSize)], taken)
		p.Add(Candidate{})
		p.Clear()
		_, ok := p.Take()
		require.False(t, ok)
	})
}
