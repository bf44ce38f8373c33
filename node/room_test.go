package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// TestPeersThatTakeNothingAreWaitedFor: when the other nodes take nothing of what a home sends, it executes no more. Nothing is dropped,
// and all is done when they go on.
func TestPeersThatTakeNothingAreWaitedFor(t *testing.T) {
	const manyRequests = 4 << 20
	c := newFormed(t, 3, func(o *Options) { o.manyRequests = manyRequests })
	home := c.nodes["a"]
	key := c.keyOf(home)
	cl := c.dial(home)
	require.Equal(t, protocol.StatusDone, cl.do("set "+key+" v").Status)

	var busy []*replica.Stripe
	for _, name := range []string{"b", "c"} {
		busy = append(busy, c.nodes[name].replicas.Lock(ring.SlotOf([]byte(key)), nil))
	}
	set := op(protocol.Execute, "set "+key+" "+strings.Repeat("v", 256<<10))
	var answers []chan protocol.Result
	for range 100 {
		answers = append(answers, cl.send(set)...)
	}
	c.eventually(func() bool { return home.Metrics.Waits.Value() > 0 })
	for _, p := range home.peers.All {
		require.LessOrEqual(t, p.Queued(), manyRequests+replica.GroupSize*300<<10)
	}
	require.NotEmpty(t, cl.link.Queued(), "the rest waits where it came from")
	for _, s := range busy {
		s.Unlock()
	}
	for _, answer := range answers {
		require.Equal(t, protocol.StatusDone, cl.wait(answer).Status)
	}
	require.Empty(t, cl.down)
}
