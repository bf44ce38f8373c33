package node

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

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
	t.Run("in frames", func(t *testing.T) { testPeersThatTakeNothing(t, 256<<10) })
	t.Run("in pieces", func(t *testing.T) { testPeersThatTakeNothing(t, transfer.Ahead+5) })
}

func testPeersThatTakeNothing(t *testing.T, length int) {
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
	free := sync.OnceFunc(func() { // also if the test fails: nodes could not be closed
		for _, s := range busy {
			s.Unlock()
		}
	})
	defer free()
	value := strings.Repeat("v", length)
	name := func(i int) string { return fmt.Sprintf("{%s}%d", key, i) }
	var answers []chan protocol.Result
	count := 0
	c.eventually(func() bool { // more is sent until the rest waits where it came from: what the sockets on the way hold is up to the system
		for ; cl.link.Queued() == 0; count++ {
			answers = append(answers, cl.send(op(protocol.Execute, "set "+name(count)+" "+value))...)
		}
		time.Sleep(20 * time.Millisecond)
		return home.Metrics.Waits.Value() > 0 && cl.link.Queued() > 0
	})
	for _, p := range home.peers.All() {
		require.LessOrEqual(t, p.Queued(), manyRequests+replica.GroupSize*(length+50<<10))
	}
	free()
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
