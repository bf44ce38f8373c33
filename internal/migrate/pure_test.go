package migrate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/rdb"
)

// TestPace: the bytes of all workers together keep to the rate, and none are saved up.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace{rate: 1000}
		began := time.Now()
		for range 5 {
			require.NoError(t, p.wait(t.Context(), 500))
		}
		require.Equal(t, 2*time.Second, time.Since(began), "the last ones go when those before are due")
		time.Sleep(time.Hour)
		began = time.Now()
		for range 3 {
			require.NoError(t, p.wait(t.Context(), 1000))
		}
		require.Equal(t, 2*time.Second, time.Since(began))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, p.wait(ctx, 1), context.Canceled)
	})
}

// answer is an error that a server has sent.
type answer string

func (a answer) Error() string { return string(a) }
func (answer) RedisError()     {}

// TestPatience: what passes is tried again, for a minute; what does not is said at once.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, times := time.Now(), 0
		require.NoError(t, patiently(t.Context(), func() error {
			if times++; times < 5 {
				return answer("CLUSTERDOWN too few replicas")
			}
			return nil
		}))
		require.Equal(t, 5, times)
		require.Greater(t, time.Since(began), firstRest)

		began = time.Now()
		lost := errors.New("connection reset")
		require.ErrorIs(t, patiently(t.Context(), func() error { return lost }), lost)
		require.GreaterOrEqual(t, time.Since(began), patience)

		began = time.Now()
		err := patiently(t.Context(), func() error { return answer("NOAUTH Authentication required.") })
		require.ErrorContains(t, err, "give the password")
		require.Zero(t, time.Since(began))
		require.False(t, passes(answer("BUSYKEY Target key name already exists.")))
	})
}

func payload(kind rdb.Kind, items ...string) string {
	n := len(items)
	if kind == rdb.Hash {
		n /= 2
	}
	p := rdb.Begin(nil, kind, n)
	for _, i := range items {
		if p = rdb.AppendItem(p, []byte(i)); kind == rdb.SortedSet {
			p = rdb.AppendScore(p, float64(len(i)))
		}
	}
	return string(rdb.Seal(p))
}

// TestFingerprint: it is the same for the same value, in whichever order what has no order is written, and another one for every other.
func TestFingerprint(t *testing.T) {
	of := func(kind rdb.Kind, items ...string) fingerprint {
		i := item{payload: payload(kind, items...)}
		return i.print()
	}
	require.True(t, of(rdb.Set, "a", "bc").same(of(rdb.Set, "bc", "a")))
	require.True(t, of(rdb.Hash, "a", "1", "b", "2").same(of(rdb.Hash, "b", "2", "a", "1")))
	require.True(t, of(rdb.SortedSet, "a", "bc").same(of(rdb.SortedSet, "bc", "a")))
	different := []fingerprint{
		of(rdb.Set, "a", "bc"), of(rdb.Set, "ab", "c"), of(rdb.List, "a", "bc"), of(rdb.List, "bc", "a"), of(rdb.List, "ab", "c"),
		of(rdb.SortedSet, "a", "bc"), of(rdb.Hash, "a", "bc"), of(rdb.Hash, "bc", "a"), of(rdb.Hash, "a", "1", "b", "2"),
		of(rdb.Hash, "a", "2", "b", "1"), of(rdb.String, "abc"), of(rdb.String, "a"), of(rdb.List, "a"),
	}
	for i := range different {
		for j := range i {
			require.False(t, different[i].same(different[j]), "%d %d", i, j)
		}
	}
	at := func(expires int64) fingerprint {
		i := item{payload: payload(rdb.String, "a"), expireAt: expires}
		return i.print()
	}
	require.True(t, at(5000).same(at(5500)))
	require.False(t, at(5000).same(at(7000)))
	require.False(t, at(500).same(at(0)), "one expires, the other one does not")
	nothing := (&item{}).print()
	require.False(t, nothing.same(nothing))
}

// TestLedger: the position is behind the last batch that has one and before which all are done; and the counts that are kept are of what is before it.
func TestLedger(t *testing.T) {
	l := ledger{ahead: map[int]done{}}
	for _, step := range []struct {
		number   int
		after    string
		position string
		kept     uint64
	}{{1, "b", "", 0}, {0, "a", "b", 2}, {4, "e", "b", 2}, {2, "", "b", 2}, {3, "d", "e", 5}} {
		require.NoError(t, l.finish(step.number, done{step.after, Tally{Keys: 1}}))
		require.Equal(t, step.position, l.state.Position)
		require.Equal(t, step.kept, l.state.Tally.Keys)
	}
	require.EqualValues(t, 5, l.tally().Keys)
	require.NoError(t, l.finish(5, done{"", Tally{Keys: 1}}))
	require.EqualValues(t, 6, l.tally().Keys)
	require.Empty(t, l.ahead)
}
