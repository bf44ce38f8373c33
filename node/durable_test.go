package node

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// newSlow starts a cluster whose node a has an engine that commits when it is told
// to. Being the coordinator, a needs no commit to form.
func newSlow(t *testing.T, size int) (*testCluster, *Node, *enginetest.SlowEngine) {
	t.Helper()
	slow := enginetest.Slow(memory.New())
	c := newFormed(t, size, func(o *Options) {
		if o.Name == "a" {
			o.Engine = slow
		}
	})
	require.Zero(t, slow.Held())
	return c, c.nodes["a"], slow
}

func awaitHeld(t *testing.T, slow *enginetest.SlowEngine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, slow.AwaitHeld(ctx, 1))
}

// TestR2NoReplyBeforeTheCommit: whatever a node is asked, it says nothing that a
// power cut could take back.
func TestR2NoReplyBeforeTheCommit(t *testing.T) {
	c, n, slow := newSlow(t, 3)
	key := c.keyOf(n)
	slot := ring.SlotOf([]byte(key))

	t.Run("reads", func(t *testing.T) {
		cl := c.dial(n)
		for _, kind := range []protocol.OpKind{protocol.ReadValue, protocol.ReadVersion} {
			result := cl.send(op(kind, "get "+key))[0]
			awaitHeld(t, slow)
			cl.barrier()
			require.Empty(t, result)
			slow.Release()
			require.Contains(t, []protocol.Status{protocol.StatusValue, protocol.StatusVersion}, cl.wait(result).Status)
		}
	})
	t.Run("votes", func(t *testing.T) {
		cl := c.dialAs(n, c.nodes["b"])
		b := record.Ballot{Counter: 1, Incarnation: record.NewIncarnation(1, 1)}
		for _, m := range []register.Message{
			{Kind: register.Prepare}, {Kind: register.SyncRead, Change: record.Change{Key: []byte("k")}}, {Kind: register.Confirm},
			{Kind: register.Accept, Version: record.Version{Ballot: b, Seq: 1}, Change: record.Change{Key: []byte("k")}}, {Kind: register.Purge, Version: record.Version{Ballot: b, Seq: 1}, Change: record.Change{Key: []byte("k")}},
			{Kind: register.Clear, Version: record.Version{Ballot: b, Seq: 2}}, {Kind: register.Prepare}, // the last one is refused
		} {
			m.Slot, m.Epoch, m.Ballot = 9, 1, b
			cl.replicate(m)
			awaitHeld(t, slow)
			cl.barrier()
			require.Empty(t, cl.replies, m.Kind)
			slow.Release()
			select {
			case reply := <-cl.replies:
				require.Equal(t, m.Kind, reply.Kind)
			case <-time.After(patience):
				t.Fatal("no reply")
			}
		}
	})
	t.Run("calls", func(t *testing.T) {
		cl := c.dial(n)
		for method, payload := range map[protocol.Method][]byte{
			protocol.MethodScan:  protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: 1, Limit: 10}),
			protocol.MethodStats: protocol.AppendVersion(nil, 1), protocol.MethodLocate: []byte(key),
		} {
			replied := make(chan error, 1)
			go func() { _, err := cl.caller.Call(t.Context(), method, payload); replied <- err }()
			awaitHeld(t, slow)
			cl.barrier()
			require.Empty(t, replied)
			slow.Release()
			require.NoError(t, received(t, replied))
		}
	})
	t.Run("done", func(t *testing.T) {
		cl := c.dial(n)
		warm := cl.send(op(protocol.Execute, "set "+key+" v"))[0]
		c.eventually(func() bool { slow.Release(); return len(warm) > 0 })
		c.eventually(func() bool { slow.Release(); return c.quiet(n, key) })

		result := cl.send(op(protocol.Execute, "set "+key+" w"))[0]
		awaitHeld(t, slow)         // its own record,
		c.eventually(func() bool { // which the requests to the others do not wait for: they say nothing of it
			return string(c.held("b", slot, key)) == "w" && string(c.held("c", slot, key)) == "w"
		})
		cl.barrier()
		require.Empty(t, result)
		c.eventually(func() bool { return slow.Held() >= 2 }) // they have acknowledged
		cl.barrier()
		require.Empty(t, result)
		c.eventually(func() bool { slow.Release(); return len(result) > 0 })
		require.Equal(t, "+OK\r\n", string(cl.wait(result).Reply))
	})
}

// TestR2TheOwnVoteWaitsForTheCommit: a home that has written to all replicas, its own among
// them, may do what needs all of them only when its own has it for certain.
func TestR2TheOwnVoteWaitsForTheCommit(t *testing.T) {
	c, n, slow := newSlow(t, 3)
	key := c.keyOf(n)
	slot := ring.SlotOf([]byte(key))
	cl := c.dial(n)
	warm := cl.send(op(protocol.Execute, "set "+key+" v"))[0]
	c.eventually(func() bool { slow.Release(); return len(warm) > 0 })
	c.eventually(func() bool { slow.Release(); return c.quiet(n, key) })

	cl.send(op(protocol.Execute, "del "+key))
	awaitHeld(t, slow)
	tombstone := func(name string) bool {
		rec, present := c.record(name, slot, key)
		return present && !rec.State.Live()
	}
	c.eventually(func() bool { return c.held("b", slot, key) == nil && c.held("c", slot, key) == nil })
	for range 2 { // their acknowledgements are handled, and what follows from them
		c.pingPong(n, "b")
		c.pingPong(n, "c")
	}
	require.True(t, tombstone("b") && tombstone("c"), "purged, though a replica may yet lose its tombstone")
	c.eventually(func() bool { slow.Release(); _, present := c.record("b", slot, key); return !present })
}

// pingPong returns when a node has handled what another one sent it so far.
func (c *testCluster) pingPong(from *Node, to string) {
	c.t.Helper()
	p := from.peers.Of(c.nodes[to].self().ID)
	_, err := p.Ask(c.t.Context(), protocol.MethodStatus, nil)
	require.NoError(c.t, err)
}

// record returns what a node's replica has of a key.
func (c *testCluster) record(name string, slot uint16, key string) (record.Record, bool) {
	n := c.nodes[name]
	st := n.replicas.Lock(slot, nil)
	defer st.Unlock()
	rec, present, err := n.engine.Get(slot, []byte(key))
	require.NoError(c.t, err)
	rec.State = rec.State.Keep()
	return rec, present
}

// held returns the value that a node's replica has of a key.
func (c *testCluster) held(name string, slot uint16, key string) []byte {
	rec, _ := c.record(name, slot, key)
	return rec.State.Value
}

// quiet reports whether the home of a key has nothing in flight, and all replicas
// hold the same.
func (c *testCluster) quiet(n *Node, key string) bool {
	slot := ring.SlotOf([]byte(key))
	st := n.replicas.Lock(slot, nil)
	active := st.Active(slot)
	st.Unlock()
	for name := range c.nodes {
		if string(c.held(name, slot, key)) != string(c.held(n.opt.Name, slot, key)) {
			return false
		}
	}
	return !active
}

func TestAFailedStoreStopsTheVoting(t *testing.T) {
	c, n, slow := newSlow(t, 3)
	key := c.keyOf(n)
	proxy, peer := c.dial(n), c.dialAs(n, c.nodes["b"])
	pending := proxy.send(op(protocol.ReadVersion, "get k"))[0]
	awaitHeld(t, slow)
	slow.Fail(errors.New("the disk is gone"))

	proxy.reconnected() // everybody is told by another handshake
	peer.reconnected()
	require.Empty(t, pending)
	for name, other := range c.nodes {
		if name != "a" {
			c.eventually(func() bool {
				p := other.peers.Of(n.self().ID)
				return p.Up() && !p.Alive() && !p.Connected()
			})
		}
	}
	for _, kind := range []protocol.OpKind{protocol.ReadValue, protocol.ReadVersion, protocol.Execute} {
		r := proxy.one(op(kind, "get "+key))
		require.Equal(t, []any{protocol.StatusNotDone, register.NotVoting}, []any{r.Status, r.Reason})
	}
	refused := n.Metrics.RefusedNoVote.Value()
	peer.replicate(register.Message{Kind: register.Prepare, Slot: 9, Epoch: 1, Ballot: record.Ballot{Counter: 9}})
	c.eventually(func() bool { return n.Metrics.RefusedNoVote.Value() > refused })
	peer.barrier()
	require.Empty(t, peer.replies)

	require.Equal(t, admin.Failed, n.Self().State)
	require.ErrorContains(t, n.Ready(t.Context()), "its store failed")
	require.False(t, n.State().Voting)
	c.eventually(func() bool { return c.logs.contains("the disk is gone") })
	of := c.statusOf("b", "a") // and others can tell
	require.Equal(t, admin.Failed, of.State)
	require.Contains(t, of.Reason, "its store failed")
	for _, method := range []protocol.Method{protocol.MethodScan, protocol.MethodStats, protocol.MethodLocate} {
		_, err := proxy.caller.Call(t.Context(), method, nil)
		require.ErrorIs(t, err, protocol.ErrCall)
	}
	require.Equal(t, "+OK\r\n", string(c.dial(c.nodes["b"]).do("set "+key+" v").Reply), "the two others go on")
}

// syncing counts the calls of Sync.
type syncing struct {
	survivor
	syncs atomic.Int64
}

func (e *syncing) Sync() error {
	e.syncs.Add(1)
	return nil
}

// TestWhatIsSaidToBeDurableIs: a node that acknowledges before that syncs first, and one that keeps nothing says so.
func TestWhatIsSaidToBeDurableIs(t *testing.T) {
	for _, tc := range []struct {
		fsync string
		disk  bool
		keeps protocol.Durability
		syncs int64
	}{
		{"", false, protocol.InMemory, 0},
		{"interval=1s", true, protocol.OnDiskSoon, 1},
		{FsyncAlways, true, protocol.OnDisk, 0},
	} {
		e := &syncing{survivor: survivor{memory.New()}}
		c := newFormed(t, 1, func(o *Options) {
			o.Engine, o.Fsync = e, tc.fsync
			if tc.disk {
				o.Identity = newDisk(1000)
			}
		})
		c.set("a", "k", "v")
		slot := ring.SlotOf([]byte("k"))
		reply, err := c.dial(c.nodes["a"]).caller.Call(t.Context(), protocol.MethodDurable, protocol.AppendSlots(nil, 1, []uint16{slot, slot + 1}))
		require.NoError(t, err)
		var slots []uint16
		keeps, err := protocol.DecodeDurable(reply, func(d protocol.SlotDigest) { slots = append(slots, d.Slot) })
		require.NoError(t, err)
		require.Equal(t, tc.keeps, keeps)
		require.Equal(t, tc.syncs, e.syncs.Load(), "it says what is not durable")
		if tc.disk {
			require.Equal(t, []uint16{slot}, slots)
		}
	}
}
