package verify

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func mayEvict(o *Options) { o.MayEvict = true }

// evict evicts a key now and then.
func (f *fake) evict() {
	if rand.IntN(20) > 0 {
		return
	}
	for key := range f.values {
		delete(f.values, key)
		return
	}
}

// newEvicting returns a server that evicts keys.
func newEvicting() *fake {
	f := newFake()
	f.lie = func(f *fake, _ int, _ []string) (answer, error, bool) {
		f.evict()
		return answer{}, nil, false
	}
	return f
}

// TestAServerThatEvictsIsNotBlamed if it may, and is if it may not.
func TestAServerThatEvictsIsNotBlamed(t *testing.T) {
	report := verify(t, newEvicting(), mayEvict)
	require.False(t, report.Violated(), "%+v", report)
	require.Zero(t, report.Unread+report.Undecided)
	require.Positive(t, report.Histories)

	report = verify(t, newEvicting(), nil)
	require.Positive(t, report.Lost)
}

// TestAServerThatEvictsIsBlamed for all else than that.
func TestAServerThatEvictsIsBlamed(t *testing.T) {
	for name, tc := range map[string]struct {
		lie  func(f *fake, address int, words []string) (answer, error, bool)
		want Class
	}{
		"a write is acknowledged and not done": {func(_ *fake, _ int, words []string) (answer, error, bool) {
			return answer{text: "OK"}, nil, about(words, "SET", "register")
		}, Lost},
		"one address answers with the value before": {func(f *fake, address int, words []string) (answer, error, bool) {
			old := f.old[words[1]]
			return answer{text: old, null: old == ""}, nil, address == 1 && old != "" && about(words, "GET", "register")
		}, Stale},
		"what was evicted comes back": {func(f *fake, _ int, words []string) (answer, error, bool) {
			if !about(words, "GET", "register") {
				return answer{}, nil, false
			}
			return answer{null: true}, nil, rand.IntN(2) == 0
		}, Wrong},
		"a counter is beyond what was sent": {func(_ *fake, _ int, words []string) (answer, error, bool) {
			return answer{text: "123456789"}, nil, about(words, "GET", "counter")
		}, Wrong},
		"a duel's value is the one before": {func(f *fake, _ int, words []string) (answer, error, bool) {
			old := f.old[words[1]]
			return answer{text: old}, nil, old != "" && about(words, "GET", "duel")
		}, Wrong},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.lie = func(f *fake, address int, words []string) (answer, error, bool) {
				f.evict()
				if f.calls < 1000 || rand.IntN(10) > 0 {
					return answer{}, nil, false
				}
				return tc.lie(f, address, words)
			}
			report := verify(t, f, mayEvict)
			require.Positive(t, map[Class]int{Lost: report.Lost, Stale: report.Stale, Wrong: report.Wrong}[tc.want], "%+v", report)
		})
	}
}
