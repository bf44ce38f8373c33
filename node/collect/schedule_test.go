package collect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTheFirstOneWhoseTimeHasComeIsTaken, and none that is not to be collected any more.
func TestTheFirstOneWhoseTimeHasComeIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(1e9, 0)
		var s schedule
		var waiting []*run
		defer func() {
			for _, r := range waiting {
				r.end()
			}
		}()
		first := func() *run {
			var best *run
			for _, r := range waiting {
				if best == nil || r.notBefore.Before(best.notBefore) || r.notBefore.Equal(best.notBefore) && r.slot < best.slot {
					best = r
				}
			}
			return best
		}
		remove := func(gone *run) {
			for i, r := range waiting {
				if r == gone {
					waiting = append(waiting[:i], waiting[i+1:]...)
					return
				}
			}
		}
		for number := range uint16(rapid.IntRange(0, 60).Draw(t, "steps")) {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				r := newRun(nil, number, epoch, start.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "when"))*time.Second))
				s.add(r)
				waiting = append(waiting, r)
			case 2:
				if len(waiting) > 0 {
					r := rapid.SampledFrom(waiting).Draw(t, "ends")
					r.end()
					remove(r)
				}
			case 3:
				now, want := start.Add(time.Duration(rapid.IntRange(-1, 6).Draw(t, "now"))*time.Second), first()
				if want != nil && want.notBefore.After(now) {
					want = nil
				}
				require.Same(t, want, s.take(now))
				if want != nil {
					want.end()
				}
				remove(want)
			case 4:
				if rapid.Bool().Draw(t, "all at once") {
					s.now()
				}
			}
			if want := first(); want == nil {
				require.Zero(t, s.due())
			} else {
				require.Equal(t, want.notBefore, s.due())
			}
		}
	})
}

func TestSooner(t *testing.T) {
	a, b := time.Unix(1, 0), time.Unix(2, 0)
	require.Equal(t, a, sooner(a, b))
	require.Equal(t, a, sooner(b, a))
	require.Equal(t, a, sooner(a, time.Time{}))
	require.Equal(t, a, sooner(time.Time{}, a))
	require.Zero(t, sooner(time.Time{}, time.Time{}))
}
