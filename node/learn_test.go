package node

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// changed returns the ring of a node with other assignments of some slots, in the next version.
func changed(t testing.TB, n *Node, change map[uint16]ring.Assignment) *replica.View {
	t.Helper()
	v := n.replicas.View()
	slots := make([]ring.Assignment, ring.Slots)
	for slot := range slots {
		slots[slot] = v.Table.Assignment(uint16(slot))
	}
	version := v.Table.Version() + 1
	for slot, a := range change {
		a.Epoch = version
		slots[slot] = a
	}
	table, err := ring.NewTable(version, slots)
	require.NoError(t, err)
	return replica.ViewOf(v.Cluster, table, v.Self)
}

// newLed starts a cluster in which a leads the slot of a key, whose value is v.
func newLed(t *testing.T) (c *testCluster, a *Node, key string) {
	c = newFormed(t, 3, nil)
	a = c.nodes["a"]
	key = c.keyOf(a)
	require.Equal(t, "+OK\r\n", string(c.dial(a).one(op(protocol.Execute, "set "+key+" v")).Reply))
	return c, a, key
}

// TestASlotChangesItsHomeAlone: a home whose slot has another epoch gives it up, and all others go on.
func TestASlotChangesItsHomeAlone(t *testing.T) {
	c, a, key := newLed(t)
	b, slot := c.nodes["b"], ring.SlotOf([]byte(key))
	elsewhere := "else-0"
	for i := 1; ring.SlotOf([]byte(elsewhere)) == slot || a.replicas.View().Table.Replicas(ring.SlotOf([]byte(elsewhere)))[0] != a.self().ID; i++ {
		elsewhere = "else-" + string(rune('0'+i))
	}
	atA := c.dial(a)
	require.Equal(t, "+OK\r\n", string(atA.one(op(protocol.Execute, "set "+elsewhere+" v")).Reply))
	next := slices.Clone(a.replicas.View().Table.Replicas(slot))
	i := slices.Index(next, b.self().ID)
	next[0], next[i] = next[i], next[0]
	for _, n := range c.nodes {
		require.True(t, n.replicas.Learn(changed(t, n, map[uint16]ring.Assignment{slot: {Replicas: next}})))
		require.False(t, n.replicas.Learn(n.replicas.View()), "it is known")
	}

	r := atA.one(op(protocol.Execute, "get "+key))
	require.Equal(t, register.EpochChanged, r.Reason, "the proxy does not know who holds the slot")
	require.Equal(t, register.EpochChanged, atA.one(op(protocol.ReadVersion, "get "+key)).Reason)
	require.Equal(t, "$1\r\nv\r\n", string(atA.one(op(protocol.Execute, "get "+elsewhere)).Reply), "it knows who holds this one")
	atB := c.dial(b)
	atB.epoch, atA.epoch = 2, 2
	require.Equal(t, "$1\r\nv\r\n", string(atB.do("get "+key).Reply))
	c.eventually(func() bool { // a may have had a term for the read before, and finds out that it is over
		r = atA.one(op(protocol.Execute, "get "+key))
		return r.Reason == register.OtherHome && r.Hint == b.self().ID
	})
	atB.epoch = 3
	require.Equal(t, register.EpochChanged, atB.one(op(protocol.Execute, "get "+key)).Reason, "the node does not know that version")
}

// TestAStaleHomeIsRefused: one that has not heard of a new epoch gets nothing done, and what it was asked for is done by others. It does not
// take part in that epoch before it knows its members.
func TestAStaleHomeIsRefused(t *testing.T) {
	t.Parallel()
	c, a, key := newLed(t)
	slot, atA := ring.SlotOf([]byte(key)), c.dial(a)
	next := slices.Clone(a.replicas.View().Table.Replicas(slot))
	next[0], next[1] = next[1], next[0]
	var home *Node
	for _, n := range c.nodes {
		if n != a {
			n.replicas.Learn(changed(t, n, map[uint16]ring.Assignment{slot: {Replicas: next}}))
		}
		if n.self().ID == next[0] {
			home = n
		}
	}
	atHome := c.dial(home)
	atHome.epoch = 2
	require.Equal(t, "+OK\r\n", string(atHome.do("set "+key+" w").Reply))
	stale := atA.send(op(protocol.Execute, "get "+key))[0]
	c.eventually(func() bool { return home.Metrics.RefusedEpoch.Value() > 0 })
	epoch := func() uint64 {
		stripe := a.replicas.Lock(slot, nil)
		defer stripe.Unlock()
		sl, err := stripe.Slot(slot)
		require.NoError(t, err)
		return sl.Meta().Epoch
	}
	require.EqualValues(t, 1, epoch(), "it does not know who the members are in the new one")
	a.replicas.Learn(changed(t, a, map[uint16]ring.Assignment{slot: {Replicas: next}}))
	require.NotEqual(t, "$1\r\nv\r\n", string(atA.wait(stale).Reply))
	atA.epoch = 2
	c.eventually(func() bool { return string(atA.do("get "+key).Reply) == "$1\r\nw\r\n" })
	require.EqualValues(t, 2, epoch())
}

// TestWhatIsUnsureIsNoVote: a clear that was taken over, and may not have been chosen, counts for no majority (R18), until the replica accepts one.
func TestWhatIsUnsureIsNoVote(t *testing.T) {
	store := memory.New()
	require.NoError(t, store.PutSlot(ring.SlotOf([]byte("k")), record.SlotMeta{Epoch: 1, Unsure: true,
		Cleared: record.Version{Ballot: record.Ballot{Counter: 1, Incarnation: 1 << 16}, Seq: 1}, Promised: record.Ballot{Counter: 1, Incarnation: 1 << 16}}))
	c := newFormed(t, 1, func(o *Options) { o.Engine = store })
	cl := c.dial(c.nodes["a"])
	require.Equal(t, protocol.StatusAskHome, cl.one(op(protocol.ReadVersion, "get k")).Status)
	require.Equal(t, protocol.StatusAskHome, cl.one(op(protocol.ReadValue, "get k")).Status)
	require.Equal(t, "+OK\r\n", string(cl.do("set k v").Reply))
	require.Equal(t, protocol.StatusVersion, cl.one(op(protocol.ReadVersion, "get k")).Status, "a record is sure")
	require.Equal(t, protocol.StatusVersion, cl.one(op(protocol.ReadVersion, "get other")).Status, "another slot")
}

// TestASlotThatIsNotHeldAnyMore: who is no member of a slot any more says nothing of it.
func TestASlotThatIsNotHeldAnyMore(t *testing.T) {
	c, a, key := newLed(t)
	slot, atA := ring.SlotOf([]byte(key)), c.dial(a)
	a.replicas.Learn(changed(t, a, map[uint16]ring.Assignment{slot: {Replicas: a.replicas.View().Table.Replicas(slot)[1:]}}))
	atA.epoch = 2
	for _, kind := range []protocol.OpKind{protocol.Execute, protocol.ReadValue, protocol.ReadVersion} {
		require.Equal(t, register.NotMember, atA.one(op(kind, "get "+key)).Reason)
	}
}

// TestADamagedSlotThatIsNotHeldAnyMore: nobody rebuilds it, however far that was.
func TestADamagedSlotThatIsNotHeldAnyMore(t *testing.T) {
	c, _, slow, key := newDamaged(t)
	b, slot := c.nodes["b"], ring.SlotOf([]byte(key))
	require.Equal(t, 1, b.Self().DamagedSlots)
	others := slices.DeleteFunc(slices.Clone(b.replicas.View().Table.Replicas(slot)), func(id uint16) bool { return id == b.self().ID })
	require.True(t, b.replicas.Learn(changed(t, b, map[uint16]ring.Assignment{slot: {Replicas: others}})))
	c.eventually(func() bool {
		slow.Release()
		return b.Self().DamagedSlots == 0
	})
	require.Zero(t, b.Metrics.Rebuilt.Value())
}

// TestAJointSlotNeedsTwoMajorities: without one of those that it moves to nothing is proposed.
func TestAJointSlotNeedsTwoMajorities(t *testing.T) {
	c := newFormed(t, 5, nil)
	a := c.nodes["a"]
	key := c.keyOf(a)
	slot, old := ring.SlotOf([]byte(key)), a.replicas.View().Table.Replicas(ring.SlotOf([]byte(key)))
	next := []uint16{a.self().ID}
	for _, n := range c.nodes {
		if !slices.Contains(old, n.self().ID) {
			next = append(next, n.self().ID)
		}
	}
	for _, n := range c.nodes {
		require.True(t, n.replicas.Learn(changed(t, n, map[uint16]ring.Assignment{slot: {Replicas: old, Next: next}})))
	}
	atA := c.dial(a)
	atA.epoch = 2
	require.Equal(t, "+OK\r\n", string(atA.do("set "+key+" v").Reply))
	for name, n := range maps.Clone(c.nodes) {
		if !slices.Contains(old, n.self().ID) {
			c.stop(name)
		}
	}
	c.eventually(func() bool { return atA.one(op(protocol.Execute, "set "+key+" w")).Reason == register.NoQuorum })
}

// TestARemovedMemberHoldsNothingInTheEnd, though not at once.
func TestARemovedMemberHoldsNothingInTheEnd(t *testing.T) {
	c, a, key := newLed(t)
	slot := ring.SlotOf([]byte(key))
	d := newDropper(a)
	d.step()
	held := func() bool {
		_, found, err := a.engine.Get(slot, []byte(key))
		require.NoError(t, err)
		return found
	}
	others := slices.DeleteFunc(slices.Clone(a.replicas.View().Table.Replicas(slot)), func(id uint16) bool { return id == a.self().ID })
	for _, n := range c.nodes {
		require.True(t, n.replicas.Learn(changed(t, n, map[uint16]ring.Assignment{slot: {Replicas: others}})))
	}
	d.look(slot)
	d.look(slot)
	require.True(t, held())
	d.grace = 0
	d.look(slot)
	require.False(t, held())
	for _, n := range c.nodes {
		if n != a {
			d = newDropper(n)
			d.grace = 0
			for range ring.Slots / dropSlots {
				d.step()
			}
			rec, found, err := n.engine.Get(slot, []byte(key))
			require.NoError(t, err)
			require.True(t, found && rec.State.Live(), "it is a member")
		}
	}
}
