package node

import (
	"context"
	"errors"
	"sync"
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
			{Kind: register.Prepare}, {Kind: register.SyncRead, Key: []byte("k")}, {Kind: register.Confirm},
			{Kind: register.Accept, Key: []byte("k"), Version: record.Version{Ballot: b, Seq: 1}}, {Kind: register.Purge, Key: []byte("k"), Version: record.Version{Ballot: b, Seq: 1}},
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
			protocol.MethodScan:  protocol.AppendScanRequest(nil, protocol.ScanRequest{Limit: 10}),
			protocol.MethodStats: nil, protocol.MethodLocate: []byte(key),
		} {
			replied := make(chan error, 1)
			go func() { _, err := cl.caller.Call(t.Context(), method, payload); replied <- err }()
			awaitHeld(t, slow)
			cl.barrier()
			require.Empty(t, replied)
			slow.Release()
			require.NoError(t, <-replied)
		}
	})
	t.Run("done", func(t *testing.T) {
		cl := c.dial(n)
		warm := cl.send(op(protocol.Execute, "set "+key+" v"))[0]
		c.eventually(func() bool { slow.Release(); return len(warm) > 0 })
		c.eventually(func() bool { slow.Release(); return c.quiet(n, key) })

		result := cl.send(op(protocol.Execute, "set "+key+" w"))[0]
		awaitHeld(t, slow) // its own record
		cl.barrier()
		require.Empty(t, result)
		for _, other := range []string{"b", "c"} {
			require.Equal(t, []byte("v"), c.held(other, slot, key), "not even the accepts may leave")
		}
		slow.Release()
		awaitHeld(t, slow) // others have acknowledged
		cl.barrier()
		require.Empty(t, result)
		slow.Release()
		require.Equal(t, "+OK\r\n", string(cl.wait(result).Reply))
	})
}

// held returns the value that a node's replica has of a key.
func (c *testCluster) held(name string, slot uint16, key string) []byte {
	n := c.nodes[name]
	st := n.lock(slot, nil)
	defer st.unlock()
	rec, _, err := n.engine.Get(slot, []byte(key))
	require.NoError(c.t, err)
	return rec.State.Value
}

// quiet reports whether the home of a key has nothing in flight, and all replicas
// hold the same.
func (c *testCluster) quiet(n *Node, key string) bool {
	slot := ring.SlotOf([]byte(key))
	st := n.lock(slot, nil)
	active := st.slots[slot/stripes].home.Active()
	st.unlock()
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

	proxy.barrier() // refusals are heard all the same
	require.Empty(t, pending)
	for _, kind := range []protocol.OpKind{protocol.ReadValue, protocol.ReadVersion, protocol.Execute} {
		r := proxy.one(op(kind, "get "+key))
		require.Equal(t, []any{protocol.StatusNotDone, uint8(register.NotVoting)}, []any{r.Status, r.Reason})
	}
	refused := n.Metrics.RefusedNoVote.Value()
	peer.replicate(register.Message{Kind: register.Prepare, Slot: 9, Epoch: 1, Ballot: record.Ballot{Counter: 9}})
	c.eventually(func() bool { return n.Metrics.RefusedNoVote.Value() > refused })
	peer.barrier()
	require.Empty(t, peer.replies)

	require.Equal(t, admin.LostState, n.Self().State)
	require.ErrorContains(t, n.Ready(t.Context()), "its store failed")
	require.False(t, n.State().Voting)
	require.True(t, c.logs.contains("the disk is gone"))
	of := c.statusOf("b", "a") // and others can tell
	require.Equal(t, admin.LostState, of.State)
	require.Contains(t, of.Reason, "its store failed")
	for _, method := range []protocol.Method{protocol.MethodScan, protocol.MethodStats, protocol.MethodLocate} {
		_, err := proxy.caller.Call(t.Context(), method, nil)
		require.ErrorIs(t, err, protocol.ErrCall)
	}
	require.Equal(t, "+OK\r\n", string(c.dial(c.nodes["b"]).do("set "+key+" v").Reply), "the two others go on")
}

// broken is an engine whose records cannot be read any more.
type broken struct {
	*memory.Engine
	mu     sync.Mutex
	failed error
}

func (b *broken) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = err
}

func (b *broken) Get(slot uint16, key []byte) (record.Record, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil {
		return record.Record{}, false, b.failed
	}
	return b.Engine.Get(slot, key)
}

func (b *broken) Slot(slot uint16) (record.SlotMeta, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil {
		return record.SlotMeta{}, b.failed
	}
	return b.Engine.Slot(slot)
}

func TestWhatCannotBeReadIsNeverAbsent(t *testing.T) {
	warm := "set k v"
	for name, step := range map[string]func(*testCluster, *client) []uint8{
		"read": func(_ *testCluster, cl *client) []uint8 {
			return []uint8{cl.one(op(protocol.ReadValue, "get k")).Reason}
		},
		"home": func(_ *testCluster, cl *client) []uint8 { return []uint8{cl.one(op(protocol.Execute, "get k")).Reason} },
		"opening": func(_ *testCluster, cl *client) []uint8 {
			return []uint8{cl.one(op(protocol.Execute, "get other")).Reason}
		},
		"several at once": func(_ *testCluster, cl *client) (reasons []uint8) {
			for _, ch := range cl.send(op(protocol.Execute, "get k"), op(protocol.Execute, "append k v"), op(protocol.ReadVersion, "get k")) {
				reasons = append(reasons, cl.wait(ch).Reason)
			}
			return reasons
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &broken{Engine: memory.New()}
			c := newFormed(t, 1, func(o *Options) { o.Engine = e })
			cl := c.dial(c.nodes["a"])
			require.Equal(t, "+OK\r\n", string(cl.do(warm).Reply))
			e.fail(errors.New("unreadable"))
			for _, reason := range step(c, cl) {
				require.EqualValues(t, register.StorageFailed, reason)
			}
			require.EqualValues(t, register.NotVoting, cl.do("get k").Reason)
			require.ErrorContains(t, c.nodes["a"].Ready(t.Context()), "its store failed")
			require.Zero(t, c.nodes["a"].inFlight.Load())
		})
	}
	t.Run("a replica says nothing", func(t *testing.T) {
		e := &broken{Engine: memory.New()}
		c := newFormed(t, 2, func(o *Options) {
			if o.Name == "b" {
				o.Engine = e
			}
		})
		peer := c.dialAs(c.nodes["b"], c.nodes["a"])
		e.fail(errors.New("unreadable"))
		peer.replicate(register.Message{Kind: register.SyncRead, Slot: 9, Epoch: 1, Key: []byte("k")})
		c.eventually(func() bool { return c.nodes["b"].Self().State == admin.LostState })
		peer.barrier()
		require.Empty(t, peer.replies)
	})
}
