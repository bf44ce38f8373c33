package node

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/ring/change"
)

// TestLimitsAreThoseOfTheClusterOrTheNode: what clients have set, as far as there is room, and for the rest what the node was started with.
func TestLimitsAreThoseOfTheClusterOrTheNode(t *testing.T) {
	t.Parallel()
	started := eviction.Settings{Policy: eviction.VolatileTTL, Samples: 7, LogFactor: 8, DecayTime: 9}
	e := memory.NewWithin(4 << 20)
	e.SetEviction(started)
	l := newLimiter(e, 8<<20, slog.New(slog.DiscardHandler))
	for _, of := range []struct {
		set   []change.Parameter
		limit int64
		want  eviction.Settings
	}{
		{nil, 4 << 20, started},
		{[]change.Parameter{{Name: "maxmemory", Value: "5242880"}}, 5 << 20, started},
		{[]change.Parameter{{Name: "maxmemory", Value: "999999999999"}}, 8 << 20, started},
		{[]change.Parameter{{Name: "maxmemory-policy", Value: "allkeys-lfu"}, {Name: "maxmemory-samples", Value: "3"}}, 4 << 20, eviction.Settings{Policy: eviction.AllKeysLFU, Samples: 3, LogFactor: 8, DecayTime: 9}},
		{[]change.Parameter{{Name: "lfu-decay-time", Value: "0"}, {Name: "lfu-log-factor", Value: "1"}, {Name: "maxmemory", Value: "1"}}, 1, eviction.Settings{Policy: eviction.VolatileTTL, Samples: 7, LogFactor: 1}},
		// A later version's, or nobody's.
		{[]change.Parameter{{Name: "maxmemory", Value: "much"}, {Name: "maxmemory-policy", Value: "allkeys-magic"}, {Name: "maxmemory-samples", Value: "1000"}, {Name: "other", Value: "x"}}, 4 << 20, started},
		{nil, 4 << 20, started},
	} {
		l.follow(&change.Document{Parameters: of.set})
		_, limit := e.Memory()
		require.Equal(t, of.limit, limit, of.set)
		require.Equal(t, of.want, *e.Eviction(), of.set)
	}
}

// TestALimitThatIsSetHoldsAtAllNodes: far more data than the new limit go, and a node that was away learns of it when it is back.
func TestALimitThatIsSetHoldsAtAllNodes(t *testing.T) {
	t.Parallel()
	const before, after = 64 << 20, 6 << 20
	options := func(o *Options) { o.Engine, o.DataMemory = memory.NewWithin(before), before }
	c := newFormed(t, 3, options)
	value := strings.Repeat("v", 1000)
	c.sets(8000, func(i int) string { return fmt.Sprintf("set key%d %s", i, value) })
	used, _ := c.memory("a").Memory()
	require.Greater(t, used, int64(after*3/2))
	c.stop("c")
	set := func(seen uint64, parameters ...change.Parameter) {
		require.NoError(t, c.nodes["b"].Propose(t.Context(), change.Entry{Parameters: &change.Parameters{Seen: seen, Set: parameters}}))
	}
	set(0, change.Parameter{Name: "maxmemory", Value: fmt.Sprint(after)}, change.Parameter{Name: "maxmemory-policy", Value: "allkeys-lru"})
	c.eventually(func() bool {
		for _, n := range c.nodes {
			if used, limit := n.engine.(*memory.Engine).Memory(); limit != after || used > limit {
				return false
			}
		}
		return true
	})
	require.Greater(t, c.live("a"), uint64(500))
	c.sets(500, func(i int) string { return fmt.Sprintf("set more%d %s", i, value) })

	c.start("c", options) // with an empty store: it takes its place again
	c.eventually(func() bool {
		_, limit := c.memory("c").Memory()
		return limit == after && c.memory("c").Eviction().Policy == eviction.AllKeysLRU
	})
	doc := c.nodes["a"].Document()
	set(doc.ParametersAt, change.Parameter{Name: "maxmemory"})
	c.eventually(func() bool { _, limit := c.memory("c").Memory(); return limit == before })
}
