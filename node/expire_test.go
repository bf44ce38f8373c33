package node

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/broker"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/exec"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// wallClock is a wall clock that a test sets.
type wallClock struct{ now atomic.Int64 }

func newWallClock() *wallClock {
	c := &wallClock{}
	c.now.Store(time.Now().UnixMilli())
	return c
}

func (c *wallClock) use(o *Options) { o.Now = c.now.Load }

// keeping is an engine in which nobody finds what has expired: it remains until it is
// looked at.
type keeping struct{ engine.Engine }

func (keeping) Expired(uint16, int64, func([]byte) bool) (bool, error) { return false, nil }

func (c *testCluster) live(name string) uint64 {
	totals, err := c.nodes[name].engine.Totals()
	require.NoError(c.t, err)
	return totals.Live
}

func TestExpiredKeysGoAwayUnread(t *testing.T) {
	t.Parallel()
	clock := newWallClock()
	c := newFormed(t, 3, clock.use)
	cl := c.dial(c.nodes["a"])
	const keys = 3 * expireKeys
	var ops []protocol.Op
	for i := range keys { // half of them in one slot
		name := fmt.Sprint(i)
		if i%2 == 0 {
			name = "{one}" + name
		}
		o := op(protocol.Execute, "psetex "+name+" 5000 v")
		o.Except = protocol.AllOthers
		ops = append(ops, o)
	}
	for len(ops) > 0 {
		var again []protocol.Op // a busy machine loses terms
		for i, result := range cl.send(ops...) {
			if r := cl.wait(result); r.Status != protocol.StatusDone {
				again = append(again, ops[i])
			}
		}
		ops = again
	}
	c.set("a", "stays", "v")
	all := func(live uint64) func() bool {
		return func() bool { return c.live("a") == live && c.live("b") == live && c.live("c") == live }
	}
	c.eventually(all(keys + 1))
	clock.now.Add(5001)
	c.eventually(all(1))
	c.eventually(func() bool { // purged, since all replicas hold the deletions
		for _, n := range c.nodes {
			if totals, _ := n.engine.Totals(); totals.Tombstones > 0 {
				return false
			}
		}
		return true
	})
	c.eventually(func() bool {
		for _, n := range c.nodes {
			if n.replicas.InFlight() != 0 || n.replicas.Pending() != 0 {
				return false
			}
		}
		return true
	})
	require.Equal(t, "v", string(c.held("b", ring.SlotOf([]byte("stays")), "stays")))
}

// TestAReplicaThatMissedTheDeletion: it comes back with what has expired, and is home again.
func TestAReplicaThatMissedTheDeletion(t *testing.T) {
	t.Parallel()
	clock, d := newWallClock(), newDisks("a", "b", "c")
	use := func(o *Options) { clock.use(o); d.use(o) }
	c := newFormed(t, 3, use)
	key := c.keyOf(c.nodes["c"])
	require.Equal(t, "+OK\r\n", c.run("c", "psetex "+key+" 5000 v"))
	c.eventually(func() bool { return c.live("a") == 1 && c.live("b") == 1 && c.live("c") == 1 })
	c.stop("c")
	clock.now.Add(5001)
	c.eventually(func() bool { return c.live("a") == 0 && c.live("b") == 0 }) // by the next in the order
	c.start("c", use)
	require.EqualValues(t, 1, c.live("c"))
	c.eventually(func() bool { return c.live("c") == 0 })
}

func TestWithoutMajorityNothingIsExpired(t *testing.T) {
	t.Parallel()
	clock, d := newWallClock(), newDisks("a", "b", "c")
	use := func(o *Options) { clock.use(o); d.use(o) }
	c := newFormed(t, 3, use)
	key := c.keyOf(c.nodes["a"])
	require.Equal(t, "+OK\r\n", c.run("a", "psetex "+key+" 5000 v"))
	c.stop("b")
	c.stop("c")
	a := c.nodes["a"]
	c.eventually(func() bool { return !a.peers.Of(2).Alive() && !a.peers.Of(3).Alive() })
	clock.now.Add(5001)
	e := newExpirer(a)
	for e.failed.Load() == 0 {
		e.step()
	}
	require.Zero(t, e.open.Load())
	require.EqualValues(t, 1, c.live("a"))
	c.start("b", use)
	c.eventually(func() bool { return c.live("a") == 0 && c.live("b") == 0 })
}

// TestALiveKeyIsNotExpired: somebody wrote it after it was found.
func TestALiveKeyIsNotExpired(t *testing.T) {
	c := newFormed(t, 3, nil)
	key := c.keyOf(c.nodes["a"])
	c.set("a", key, "v")
	a := c.nodes["a"]
	slot := ring.SlotOf([]byte(key))
	e := newExpirer(a)
	round := a.replicas.Begin()
	st := a.replicas.Lock(slot, round)
	e.open.Add(1)
	st.Background(slot, replica.OpExpire, []byte(key), e.answered)
	st.Unlock()
	round.Flush()
	c.eventually(func() bool { return e.open.Load() == 0 })
	require.Zero(t, e.failed.Load())
	c.requireValue("b", key, "v")
}

// TestExpireStaysWithWhatCanBeDone: the homes answer before there is another step, and what
// they refuse is left for later.
func TestExpireStaysWithWhatCanBeDone(t *testing.T) {
	clock := newWallClock()
	n := aloneAndStill(t, clock)
	slot := ring.SlotOf([]byte("{s}"))
	for i := range 2*expireKeys + 1 {
		require.NoError(t, n.engine.Put(slot, fmt.Appendf(nil, "{s}%d", i),
			record.Record{Version: record.Version{Seq: 1}, State: record.State{Type: record.String, ExpireAt: clock.now.Load() + 1}}))
	}
	e := newExpirer(n)
	e.next = slot
	clock.now.Add(2)
	e.open.Store(1)
	e.step()
	require.Empty(t, e.keys)
	e.open.Store(0)
	for range 2 {
		clear(e.rests) // a busy machine may make a slot rest
		e.step()
		require.Len(t, e.keys, expireKeys)
		require.Equal(t, slot, e.next)
		require.Zero(t, e.open.Load())
		require.Zero(t, e.failed.Load())
	}
	e.failed.Store(1)
	e.step()
	require.NotEqual(t, slot, e.next)
	require.Empty(t, e.keys)

	e.next = slot
	e.rests[slot] = n.mono() + 1000 // looking through it took long
	e.step()
	require.Empty(t, e.keys)
	e.next = slot
	e.rests[slot] = n.mono()
	e.step()
	require.Len(t, e.keys, 1)
	totals, err := n.engine.Totals()
	require.NoError(t, err)
	require.Zero(t, totals.Live)
}

// aloneAndStill returns the node of a cluster of one, of which nothing runs by itself.
func aloneAndStill(t *testing.T, clock *wallClock) *Node {
	n := &Node{engine: memory.New(), started: time.Now(), log: slog.New(slog.DiscardHandler)}
	n.rebuilds = newRebuilder(n)
	clock.use(&n.opt)
	n.broker = broker.New(&n.Metrics)
	n.replicas = newReplicas(n)
	n.exec = exec.New(n.replicas, &n.peers, exec.Options{Metrics: &n.Metrics})
	d, err := change.FromCluster(ring.Initial{{Name: "a", Peer: "127.0.0.1:1"}}.Cluster("test", 1))
	require.NoError(t, err)
	v, err := replica.NewView(d, 1)
	require.NoError(t, err)
	n.replicas.Enter(v)
	return n
}

func TestOnlyTheFirstThatIsAliveExpires(t *testing.T) {
	c := newFormed(t, 3, nil)
	for _, m := range c.initial {
		n := c.nodes[m.Name]
		require.True(t, n.replicas.FirstAlive([]uint16{n.self().ID, 9}))
		require.False(t, n.replicas.FirstAlive([]uint16{n.peers.All()[0].ID(), n.self().ID}))
	}
	c.stop("b")
	c.eventually(func() bool { return c.nodes["a"].replicas.FirstAlive([]uint16{2, 1, 3}) })
}
