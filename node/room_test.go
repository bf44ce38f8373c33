package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring"
)

// TestPeersThatTakeNothingAreWaitedFor: when the other nodes take nothing of what a home sends, it executes no more. Nothing is dropped,
// and all is done when they go on. The same holds for strings that are sent ahead of their messages: there they are bytes, too.
func TestPeersThatTakeNothingAreWaitedFor(t *testing.T) {
	t.Parallel()
	t.Run("in frames", func(t *testing.T) { testPeersThatTakeNothing(t, 256<<10, 100) })
	t.Run("in pieces", func(t *testing.T) { testPeersThatTakeNothing(t, transfer.Ahead+5, 40) })
}

func testPeersThatTakeNothing(t *testing.T, length, count int) {
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
	value := strings.Repeat("v", length)
	name := func(i int) string { return fmt.Sprintf("{%s}%d", key, i) }
	var answers []chan protocol.Result
	for i := range count {
		answers = append(answers, cl.send(op(protocol.Execute, "set "+name(i)+" "+value))...)
	}
	c.eventually(func() bool { return home.Metrics.Waits.Value() > 0 })
	for _, p := range home.peers.All() {
		require.LessOrEqual(t, p.Queued(), manyRequests+replica.GroupSize*(length+50<<10))
	}
	require.NotEmpty(t, cl.link.Queued(), "the rest waits where it came from")
	for _, s := range busy {
		s.Unlock()
	}
	for _, answer := range answers {
		require.Equal(t, protocol.StatusDone, cl.wait(answer).Status)
	}
	require.Empty(t, cl.down)
	c.eventually(c.converged)
	for i := range count {
		rec, _ := c.record("b", ring.SlotOf([]byte(key)), name(i))
		require.Nil(t, rec.State.Object)
		require.True(t, string(rec.State.Value) == value)
	}
	for _, n := range c.nodes {
		require.Zero(t, n.Metrics.ObjectsLost.Value())
		require.Zero(t, n.replicate.Incoming().Used())
	}
}
