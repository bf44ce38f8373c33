package node

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// tight is an engine that may be full, and counts what is written to it all the same.
type tight struct {
	*memory.Engine
	full   atomic.Bool // Room says so, and writes go on: there is some room yet
	solid  atomic.Bool // writes fail, though Room says nothing
	writes atomic.Int64
}

func newTight() *tight { return &tight{Engine: memory.New()} }

var errNoSpace = fmt.Errorf("%w: 12 MiB are free, 64 MiB are needed", engine.ErrFull)

func (e *tight) Room() error {
	if e.full.Load() {
		return errNoSpace
	}
	return nil
}

func (e *tight) write() error {
	if e.solid.Load() {
		return errNoSpace
	}
	e.writes.Add(1)
	return nil
}

func (e *tight) PutSlot(slot uint16, meta record.SlotMeta) error {
	if err := e.write(); err != nil {
		return err
	}
	return e.Engine.PutSlot(slot, meta)
}

func (e *tight) Put(slot uint16, key []byte, rec record.Record) error {
	if err := e.write(); err != nil {
		return err
	}
	return e.Engine.Put(slot, key, rec)
}

func (e *tight) Change(slot uint16, key []byte, rec record.Record, base record.Version, delta []byte) error {
	if err := e.write(); err != nil {
		return err
	}
	return e.Engine.Change(slot, key, rec, base, delta)
}

func (e *tight) Patch(slot uint16, key []byte, version, base record.Version, delta []byte) error {
	if err := e.write(); err != nil {
		return err
	}
	return e.Engine.Patch(slot, key, version, base, delta)
}

func (e *tight) Delete(slot uint16, key []byte) error {
	if err := e.write(); err != nil {
		return err
	}
	return e.Engine.Delete(slot, key)
}

func (e *tight) Clear(slot uint16, meta record.SlotMeta) error {
	if err := e.write(); err != nil {
		return err
	}
	return e.Engine.Clear(slot, meta)
}

// newTightCluster starts three nodes whose engines may be full.
func newTightCluster(t *testing.T) (*testCluster, map[string]*tight) {
	engines := map[string]*tight{"a": newTight(), "b": newTight(), "c": newTight()}
	return newFormed(t, 3, func(o *Options) { o.Engine = engines[o.Name] }), engines
}

// awaitFull waits until a node has found out that it is full, and told the others.
func (c *testCluster) awaitFull(name string) {
	c.t.Helper()
	c.eventually(func() bool {
		c.nodes[name].replicas.Space.Full()
		for other, n := range c.nodes {
			if p := n.peers.Of(c.nodes[name].self().ID); other != name && !p.Full() {
				return false
			}
		}
		return true
	})
}

func TestAFullNode(t *testing.T) {
	t.Parallel()
	c, engines := newTightCluster(t)
	a := c.nodes["a"]
	key := c.keyOf(a)
	slot := ring.SlotOf([]byte(key))
	c.set("a", key, "v")
	c.eventually(func() bool { return c.quiet(a, key) })
	cl := c.dial(a)
	peer := c.dialAs(a, c.nodes["b"])
	engines["a"].full.Store(true)
	writes := engines["a"].writes.Load()

	r := cl.do("set " + key + " w")
	require.Equal(t, []any{protocol.StatusNotDone, register.StorageFull}, []any{r.Status, r.Reason})
	require.Equal(t, "v", string(c.held("b", slot, key)), "nothing was sent")
	require.Equal(t, "$1\r\nv\r\n", string(cl.do("get "+key).Reply), "it leads, and reads")
	require.Equal(t, protocol.StatusValue, cl.one(op(protocol.ReadValue, "get "+key)).Status)
	require.EqualValues(t, register.StorageFull, cl.one(op(protocol.ReadVersion, "get cold")).Reason, "it would have to adopt the epoch")
	for _, m := range []register.Message{
		{Kind: register.Prepare}, {Kind: register.SyncRead, Change: record.Change{Key: []byte("k")}},
		{Kind: register.Accept, Version: record.Version{Seq: 1}, Change: record.Change{Key: []byte("k")}}, {Kind: register.Clear, Version: record.Version{Seq: 1}},
	} {
		b := record.Ballot{Counter: 9, Incarnation: record.NewIncarnation(1, 2)}
		m.Slot, m.Epoch, m.Ballot, m.Version.Ballot = slot, 1, b, b
		peer.replicate(m)
	}
	peer.barrier()
	require.Empty(t, peer.replies)
	peer.replicate(register.Message{Kind: register.Confirm, Slot: slot, Epoch: 1, Ballot: record.Ballot{Counter: 99}})
	require.Equal(t, register.Confirm, received(t, peer.replies).Kind)

	require.Equal(t, "+OK\r\n", c.run("b", "set "+key+" w"), "one of three costs nothing")
	c.requireValue("c", key, "w")
	c.eventually(func() bool { return a.Self().LeadingSlots == 0 }) // of which it has heard
	c.awaitFull("a")
	require.Equal(t, "v", string(c.held("a", slot, key)))
	require.Equal(t, writes, engines["a"].writes.Load())
	require.Equal(t, 1, c.logs.count("no room for writes"))

	self := c.statusOf("b", "a")
	require.Equal(t, []any{admin.Voting, errNoSpace.Error()}, []any{self.State, self.Full})
	require.True(t, a.State().Full)
	require.NoError(t, a.Ready(t.Context()))

	engines["a"].full.Store(false)
	c.eventually(func() bool { return !a.replicas.Space.Full() })
	c.eventually(func() bool { return c.logs.count("there is room for writes again") == 1 })
	require.Empty(t, a.Self().Full)
	c.set("a", key, "x")
	c.requireValue("a", key, "x")
}

// TestSlotsAreNotHandedBackToAFullNode, nor does anybody point to it.
func TestSlotsAreNotHandedBackToAFullNode(t *testing.T) {
	t.Parallel()
	c, engines := newTightCluster(t)
	key := c.keyOf(c.nodes["a"])
	slot := ring.SlotOf([]byte(key))
	b := c.nodes["b"]
	engines["a"].full.Store(true)
	require.Equal(t, "+OK\r\n", c.run("b", "set "+key+" v"))
	c.awaitFull("a")
	c.eventually(func() bool { return b.peers.Of(1).Alive() && b.peers.Of(1).Stable(b.mono()) })
	round := b.replicas.Begin()
	st := b.replicas.Lock(slot, round)
	stable, alive, other := st.Stable(1), st.Alive(1), st.Alive(3)
	st.Unlock()
	round.Flush()
	require.Equal(t, []bool{false, false, true}, []bool{stable, alive, other})
	cl := c.dial(b)
	require.Equal(t, "+OK\r\n", string(cl.one(op(protocol.Execute, "set "+key+" w")).Reply))

	engines["a"].full.Store(false)
	c.eventually(func() bool { return cl.one(op(protocol.Execute, "set "+key+" x")).Hint == 1 })
}

// TestNobodyProposesWithoutAMajorityThatHasRoom: it could end as unknown.
func TestNobodyProposesWithoutAMajorityThatHasRoom(t *testing.T) {
	t.Parallel()
	c, engines := newTightCluster(t)
	key := c.keyOf(c.nodes["c"])
	c.set("c", key, "v")
	for _, name := range []string{"a", "b"} {
		engines[name].full.Store(true)
		c.awaitFull(name)
	}
	cl := c.dial(c.nodes["c"])
	writes := engines["c"].writes.Load()
	r := cl.do("set " + key + " w")
	require.Equal(t, []any{protocol.StatusNotDone, register.StorageFull}, []any{r.Status, r.Reason})
	require.Equal(t, "$1\r\nv\r\n", string(cl.do("get "+key).Reply))
	require.EqualValues(t, register.StorageFull, cl.do("get "+c.keyOf(c.nodes["b"])).Reason, "it would take a term")
	require.Equal(t, writes, engines["c"].writes.Load())
	require.EqualValues(t, register.StorageFull, c.dial(c.nodes["a"]).do("set "+key+" w").Reason)

	engines["b"].full.Store(false)
	c.set("c", key, "w")
}

// TestAWriteThatFailsForRoomEndsNothing: the engine said that there is room, and there was
// not enough.
func TestAWriteThatFailsForRoomEndsNothing(t *testing.T) {
	c, engines := newTightCluster(t)
	a := c.nodes["a"]
	key := c.keyOf(a)
	slot := ring.SlotOf([]byte(key))
	c.set("a", key, "v")
	cl := c.dial(a)
	engines["a"].solid.Store(true)
	sent := cl.send(op(protocol.Execute, "append "+key+" w"))[0]
	c.eventually(func() bool { return string(c.held("b", slot, key)) == "vw" })
	require.Equal(t, "v", string(c.held("a", slot, key)))
	require.Empty(t, sent)
	engines["a"].solid.Store(false)
	require.Equal(t, ":2\r\n", string(cl.wait(sent).Reply), "once")
	c.requireValue("c", key, "vw")
	require.Equal(t, admin.Voting, a.Self().State)
	require.Zero(t, a.Self().DamagedSlots)
}

func TestACallThatWritesNothingWorksWhenFull(t *testing.T) {
	c, engines := newTightCluster(t)
	c.set("a", "k", "v")
	for name := range c.nodes {
		engines[name].full.Store(true)
		c.awaitFull(name)
	}
	for _, method := range []protocol.Method{protocol.MethodStats, protocol.MethodStatus} {
		_, err := c.dial(c.nodes["b"]).caller.Call(t.Context(), method, protocol.AppendVersion(nil, 1))
		require.NoError(t, err)
	}
}
