package decide

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring/change"
)

// TestThePaceFollowsWhatMoves: as many slots as move in four seconds are joint, for each member that collects.
func TestThePaceFollowsWhatMoves(t *testing.T) {
	g := newGroup(t, formed(t, 5), func(change.Document) {})
	g.planJoin(t, 6)
	d := *g.machine.Document()
	plan := *d.Plan
	now := time.Unix(1e9, 0)
	p := &pace{}
	each := func(passed time.Duration, moved int) int {
		now = now.Add(passed)
		d.Slots = slices.Clone(d.Slots)
		for _, m := range plan.Moves[:moved] { // they are where they should be
			d.Slots[m.Slot].Replicas = m.To
		}
		plan.Moves = plan.Moves[moved:]
		d.Plan = &plan
		l := p.limits(&d, now, change.Alive)
		require.Equal(t, l.PerSource, l.PerTarget)
		return l.PerTarget
	}
	require.Equal(t, leastEach, each(0, 0))
	require.Equal(t, leastEach, each(900*time.Millisecond, 50), "it is judged each second")
	require.Equal(t, growth*leastEach, each(100*time.Millisecond, 150), "it grows step by step")
	require.Equal(t, inSeconds*200, each(time.Second, 200))
	require.Equal(t, inSeconds*20, each(5*time.Second, 100))
	require.Equal(t, leastEach, each(time.Second, 0))
	d.Plan = &change.Plan{ID: "another", Moves: plan.Moves}
	p.each = 99
	require.Equal(t, leastEach, p.limits(&d, now, change.Alive).PerTarget)
}
