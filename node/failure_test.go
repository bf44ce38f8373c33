package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/node/membership"
)

// ends collects what nodes say of their end.
type ends map[string]chan error

func newEnds(names ...string) ends {
	e := ends{}
	for _, name := range names {
		e[name] = make(chan error, 10)
	}
	return e
}

func (e ends) with(replicas int) func(*Options) {
	return func(o *Options) {
		o.Replicas = replicas
		o.Failed = func(err error) { e[o.Name] <- err }
	}
}

func TestAWrongNumberOfReplicasEndsTheNode(t *testing.T) {
	t.Parallel()
	t.Run("that is outvoted", func(t *testing.T) {
		c, e := newTestCluster(t, 3), newEnds("a", "b", "c")
		a := c.start("a", e.with(2))
		c.start("b", e.with(3))
		c.eventually(func() bool { return contains(a.Ready(t.Context()), "--replicas is") })
		require.Empty(t, e["a"], "who of the two is wrong is not known yet")
		c.start("c", e.with(3))
		var wrong *membership.ConfigError
		require.ErrorAs(t, received(t, e["a"]), &wrong)
		require.Equal(t, "replicas", wrong.Field)
		require.Contains(t, wrong.Reason, "is 2 here, but 3 on node ")
		require.Equal(t, admin.Failed, a.Self().State)
		c.stop("a")
		c.start("a", e.with(3))
		c.connected()
		require.Empty(t, e["a"], "once")
		require.Empty(t, e["b"])
		require.Empty(t, e["c"])
	})
	t.Run("or comes to a ring that has formed", func(t *testing.T) {
		c, e := newTestCluster(t, 2), newEnds("a", "b")
		c.start("a", e.with(2))
		c.start("b", e.with(2))
		c.connected()
		c.stop("b")
		c.start("b", e.with(1))
		require.ErrorContains(t, received(t, e["b"]), "replicas: is 1 here, but 2 on node a")
		require.Empty(t, e["a"])
	})
	t.Run("both, if nobody knows better", func(t *testing.T) {
		c, e := newTestCluster(t, 2), newEnds("a", "b")
		c.start("a", e.with(2))
		c.start("b", e.with(1))
		require.Error(t, received(t, e["a"]))
		require.Error(t, received(t, e["b"]))
	})
}

// TestALostPeerPortEndsTheNode: nobody could connect to it any more, and nobody would know why.
func TestALostPeerPortEndsTheNode(t *testing.T) {
	c, e := newTestCluster(t, 1), newEnds("a")
	n := c.start("a", e.with(1))
	c.formed()
	require.NoError(t, n.Ready(t.Context()))
	require.NoError(t, n.opt.Listener.Close())
	require.ErrorContains(t, received(t, e["a"]), "no peer can connect any more")
	require.ErrorContains(t, n.Ready(t.Context()), "no peer can connect any more")
	require.True(t, c.logs.contains("this node cannot go on"))
}
