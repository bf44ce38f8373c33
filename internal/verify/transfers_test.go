package verify

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/redistest"
)

func withTransfers(o *Options) { o.Transfers = true }

func TestTransfersOfARightServerAreNeverBlamed(t *testing.T) {
	f := newFake()
	report := verify(t, f, withTransfers)
	require.False(t, report.Violated(), "%+v", report)
	require.Zero(t, report.Refused+report.Unknown)
	require.Zero(t, report.Unread+report.Left)
	for _, way := range ways {
		require.Greater(t, report.Transfers[way.name], int64(20), "%s: %+v", way.name, report.Transfers)
	}
	require.Greater(t, report.Readings, int64(500))
	require.Empty(t, f.values, "all keys are removed")
}

// TestTransfersOfABrokenButHonestServerAreNeverBlamed: it refuses, and does not say what it did, which may happen much later.
func TestTransfersOfABrokenButHonestServerAreNeverBlamed(t *testing.T) {
	f := newFake()
	later := func(f *fake, do func()) {
		time.AfterFunc(rand.N(2*time.Second), func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			do()
		})
	}
	f.lie = func(f *fake, _ int, words []string) (answer, error, bool) {
		switch {
		case words[0] == "DEL":
		case rand.IntN(50) == 0:
			return answer{null: true}, errRefused, true
		case rand.IntN(50) == 0:
			later(f, func() { _, _ = f.execute(words) })
			return answer{null: true}, errUnknown, true
		}
		return answer{}, nil, false
	}
	f.lieInExec = func(f *fake, _ int, watched map[string]int, commands [][]string) ([]answer, error, bool) {
		switch {
		case rand.IntN(20) == 0:
			return nil, errRefused, true
		case rand.IntN(20) == 0:
			later(f, func() { f.transaction(watched, commands) })
			return nil, errUnknown, true
		}
		return nil, nil, false
	}
	report := verify(t, f, withTransfers)
	require.False(t, report.Violated(), "%+v", report)
	require.Positive(t, report.Refused)
	require.Positive(t, report.Unknown)
	require.Positive(t, report.Transfers["WATCH"])
	require.Zero(t, report.Unread)
}

func TestTransfersOfARedisServerAreNeverBlamed(t *testing.T) {
	opt := Options{Addresses: []string{redistest.Start(t)}, For: time.Second, Clients: 8, Keys: 5, Transfers: true}
	report, err := Run(t.Context(), opt)
	require.NoError(t, err)
	require.False(t, report.Violated(), "%+v", report)
	require.Zero(t, report.Refused+report.Unknown+int64(report.Unread+report.Left), "%+v", report)
	for _, way := range ways {
		require.Positive(t, report.Transfers[way.name], way.name)
	}
}

// TestTransfersOfAPeriodAddUpToNothing, and those of any number are the sum of each.
func TestTransfersOfAPeriodAddUpToNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		series, n := rapid.IntRange(0, seriesEach-1).Draw(t, "series"), rapid.Int64Range(0, 1000).Draw(t, "n")
		var want, got [accounts]int64
		least := int64(0)
		for i := int64(1); i <= n; i++ {
			moved := nth(series, i)
			require.NotEqual(t, moved.from, moved.to)
			require.Positive(t, moved.amount)
			want[moved.from] -= moved.amount
			want[moved.to] += moved.amount
			for _, balance := range want {
				least = min(least, balance)
			}
		}
		addTransfers(&got, series, n)
		require.Equal(t, want, got)
		require.Greater(t, opening+seriesEach*least, int64(0), "no account is ever empty")
	})
}
