package node

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheClockOfOneThatHasEndedCountsForNothing: a member with a wrong clock ends, and then another one's clock goes wrong in the same way. These two are no majority.
func TestTheClockOfOneThatHasEndedCountsForNothing(t *testing.T) {
	t.Parallel()
	c := newTestCluster(t, 3)
	ahead := map[string]*atomic.Int64{}
	for _, m := range c.initial {
		by := new(atomic.Int64)
		ahead[m.Name] = by
		c.start(m.Name, func(o *Options) { o.SystemClock = func() int64 { return time.Now().UnixMilli() + by.Load() } })
	}
	c.connected()
	hears := func(who, of string, by int64) {
		n := c.nodes[who]
		c.eventually(func() bool {
			said, known := n.peers.Of(c.nodes[of].self().ID).Clock(n.mono())
			return known && said-time.Now().UnixMilli() < by+50
		})
	}
	a, b := c.nodes["a"], c.nodes["b"]
	ahead["b"].Store(-2000)
	hears("a", "b", -2000)
	require.NoError(t, b.Close(t.Context()))
	delete(c.nodes, "b")
	c.eventually(func() bool { return !a.peers.Of(b.self().ID).Alive() })
	for _, by := range []int64{-2000, -2100} { // who tells the time for the second time has compared it with the others'
		ahead["a"].Store(by)
		hears("c", "a", by)
	}
	require.InDelta(t, time.Now().UnixMilli(), a.clock.Now(a.mono()), 1000)
}
