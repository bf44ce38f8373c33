package datatype

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// TestAnyCommandKeepsTheRules runs random sequences on one key. execute checks at each
// step that deltas lead to the effect's state, that no effect means no effect, and
// that nothing borrowed or old is changed or kept.
func TestAnyCommandKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGenerator(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		st, now := record.State{}, int64(testNow)
		for range rapid.IntRange(1, 30).Draw(t, "commands") {
			now += int64(rapid.SampledFrom([]int{0, 1, 1_000_000_000}).Draw(t, "time"))
			if st.Expired(now) {
				st = record.State{}
			}
			req := request(g.command("k")...)
			req.RESP3 = rapid.Bool().Draw(t, "resp3")
			_, st, _ = execute(t, st, req, now)
			if st.Expired(now) {
				t.Fatalf("%q made a state that is expired already", req.Args)
			}
		}
	})
}
