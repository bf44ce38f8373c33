package node

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
)

// What a node starts ends with it (see TestMain), whatever it is doing.

func TestCloseAtOnce(t *testing.T) {
	for _, gossip := range []string{"", "127.0.0.1:0"} {
		c := newTestCluster(t, 3)
		for _, m := range c.initial {
			c.start(m.Name, func(o *Options) { o.GossipListen = gossip })
			if m.Name != "b" {
				c.stop(m.Name)
			}
		}
	}
}

func TestCloseWhileForming(t *testing.T) {
	for i := range 3 { // somewhere on the way
		c := newTestCluster(t, 3)
		for _, m := range c.initial {
			c.start(m.Name, nil)
		}
		waits := c.nodes["a"].peers.All()[i%2]
		c.eventually(func() bool { return waits.Up() })
		for _, name := range []string{"c", "a", "b"} {
			c.stop(name)
		}
	}
}

func TestCloseWhileWorking(t *testing.T) {
	c := newFormed(t, 3, nil)
	for name := range c.nodes {
		cl := c.dial(c.nodes[name])
		for i := range 200 {
			cl.send(op(protocol.Execute, fmt.Sprintf("set %d v", i)), op(protocol.ReadValue, fmt.Sprintf("get %d", i)))
		}
	}
	c.stop("a")
	c.stop("c") // b has requests that nobody acknowledges
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // and no time to write what is queued
	require.NoError(t, c.nodes["b"].Close(ctx))
	delete(c.nodes, "b")
}

func TestCloseWhileCommitsAreHeld(t *testing.T) {
	t.Parallel()
	slow := enginetest.Slow(memory.New())
	c := newFormed(t, 1, func(o *Options) { o.Engine = slow })
	cl := c.dial(c.nodes["a"])
	cl.send(op(protocol.Execute, "set k v"))
	awaitHeld(t, slow)
	n := c.nodes["a"]
	c.stop("a")
	require.ErrorIs(t, n.Close(t.Context()), engine.ErrClosed, "a second time")
}

func TestCloseAfterTheStoreFailed(t *testing.T) {
	t.Parallel()
	slow := enginetest.Slow(memory.New())
	c := newFormed(t, 1, func(o *Options) { o.Engine = slow })
	cl := c.dial(c.nodes["a"])
	cl.send(op(protocol.Execute, "set k v"))
	awaitHeld(t, slow)
	slow.Fail(engine.ErrCorrupt)
	c.stop("a")
}

// TestCloseAnswersWhatIsUnderWay: a node that is stopped in order leaves nobody without an answer.
func TestCloseAnswersWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	slow := enginetest.Slow(memory.New())
	c := newFormed(t, 1, func(o *Options) { o.Engine = slow })
	n := c.nodes["a"]
	cl := c.dial(n)
	answers := cl.send(op(protocol.Execute, "set k v"), op(protocol.ReadValue, "get other"))
	awaitHeld(t, slow)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.stop("a")
	}()
	c.eventually(func() bool { return cl.link.State() == wire.Leaving })
	require.ErrorIs(t, cl.link.SendFrames(wire.EndFrame(wire.BeginFrame(nil, protocol.FrameBatch), 0)), wire.ErrDown)
	for done := false; !done; {
		select {
		case <-closed:
			done = true
		default:
			slow.Release()
		}
	}
	require.Equal(t, protocol.StatusDone, cl.wait(answers[0]).Status)
	require.Equal(t, protocol.StatusValue, cl.wait(answers[1]).Status)
	require.Error(t, received(t, cl.down))
}
