package node

import (
	"errors"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// decided is a ring that changes as a test wants: what a group of nodes decides, without the group.
type decided struct {
	t *testing.T
	change.Document
}

func decidedBy(t *testing.T, n *Node) *decided { return &decided{t, *n.Document()} }

func (d *decided) apply(e change.Entry) {
	d.t.Helper()
	next, err := change.Apply(d.Document, e, 1)
	require.NoError(d.t, err)
	d.Document = next
}

func (d *decided) stage(s change.Staged) { d.apply(change.Entry{Stage: &s}) }

// commit makes a plan of what is staged.
func (d *decided) commit() {
	d.t.Helper()
	plan, err := change.Propose(d.Document)
	require.NoError(d.t, err)
	d.apply(change.Entry{Commit: plan})
}

// begin has all slots of the plan that can become joint.
func (d *decided) begin() {
	d.t.Helper()
	wave := change.NextWave(d.Document, change.Limits{Alive: func(uint16) bool { return true }})
	d.apply(change.Entry{Begin: &change.Begin{Plan: d.Plan.ID, Slots: wave}})
}

// complete has everybody report that everything is collected, which need not be so.
func (d *decided) complete() {
	d.t.Helper()
	for len(d.Joint) > 0 {
		c := &change.Complete{Member: d.Joint[0].Waiting[0]}
		for _, p := range d.Joint {
			c.Slots = append(c.Slots, change.SlotEpoch{Slot: p.Slot, Epoch: d.Slots[p.Slot].Epoch})
		}
		d.apply(change.Entry{Complete: c})
	}
}

// know waits until all nodes that run work by a version of the ring.
func (c *testCluster) know(doc change.Document) {
	c.t.Helper()
	table, err := doc.Table()
	require.NoError(c.t, err)
	for name, n := range c.nodes {
		c.eventually(func() bool { return n.Document() != nil && n.Document().Version == doc.Version })
		require.Equal(c.t, doc.Digest(), n.Document().Digest(), name)
		require.Equal(c.t, table.Digest(), n.replicas.View().Table.Digest(), name)
	}
}

// joins starts a node that is not in the initial cluster.
func (c *testCluster) joins(name string, change func(*Options)) *Node {
	c.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(c.t, err)
	c.listeners[name] = listener
	return c.start(name, func(o *Options) {
		if change != nil {
			change(o)
		}
		o.Initial, o.Peer, o.Replicas = nil, listener.Addr().String(), 3
	})
}

// TestARingThatChanges goes from three nodes to four and to three others: every version reaches everybody, from the one node that knows it first.
func TestARingThatChanges(t *testing.T) {
	t.Parallel()
	noted := func(o *Options) { o.RepairInterval = 0 } // what others miss
	c := newFormed(t, 3, noted)
	a, b := c.nodes["a"], c.nodes["b"]
	d := c.joins("d", noted)
	doc := decidedBy(t, a)
	require.Nil(t, d.Document())

	doc.apply(change.Entry{Join: &change.Join{Member: d.self()}})
	a.members.Offer(doc.Document)
	d.members.Offer(doc.Document) // it has been given it by whom it asked
	c.know(doc.Document)
	c.connected()
	require.EqualValues(t, 4, d.self().ID)
	require.Equal(t, admin.Voting, d.Self().State)
	require.NotNil(t, a.hintsOf(4), "what it misses is noted")
	for range d.replicas.View().Slots() {
		t.Fatal("a node that waits holds a slot")
	}

	doc.stage(change.Staged{Kind: change.JoinMember, Name: "d"})
	doc.commit()
	doc.begin()
	require.NotEmpty(t, doc.Joint)
	a.members.Offer(doc.Document)
	c.know(doc.Document)
	doc.complete()
	require.Nil(t, doc.Plan)
	a.members.Offer(doc.Document)
	c.know(doc.Document)
	require.NotZero(t, d.replicas.View().Table.ReplicaSlots(4))
	key := c.keyOf(d)
	atD := c.dial(d)
	atD.epoch = doc.Version
	require.Equal(t, "+OK\r\n", string(atD.do("set "+key+" v").Reply))

	doc.stage(change.Staged{Kind: change.LeaveMember, Name: "b"})
	doc.commit()
	doc.begin()
	doc.complete()
	was := a.peers.Of(2)
	hints := a.hintsOf(2)
	a.members.Offer(doc.Document)
	c.know(doc.Document)
	require.Equal(t, admin.Left, b.Self().State, "it hears that it has left")
	require.Nil(t, a.peers.Of(2))
	require.Nil(t, a.hintsOf(2))
	require.NotNil(t, hints)
	for range b.replicas.View().Slots() {
		t.Fatal("a node that has left holds a slot")
	}
	c.eventually(was.Down) // when what was under way there has been answered
	status, err := a.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Nodes, 3)
	require.Equal(t, "d", status.Nodes[2].Name)
	require.Equal(t, admin.Voting, status.Nodes[2].State)
	require.Equal(t, doc.Version, status.Epoch)
	require.Error(t, b.Ready(t.Context()))
	require.NoError(t, a.Ready(t.Context()))
}

// TestANodeThatLostItsStateComesToItsPlaceAgain, by another number, while its former life is still named by slots.
func TestANodeThatLostItsStateComesToItsPlaceAgain(t *testing.T) {
	c := newFormed(t, 3, nil)
	a := c.nodes["a"]
	key := c.keyOf(a)
	c.set("a", key, "v")
	c.stop("b")
	b := c.start("b", nil)
	c.eventually(func() bool { return b.Self().State == admin.LostState })
	require.NotNil(t, b.Document(), "it follows the ring")
	doc := decidedBy(t, a)
	was, _ := doc.ByName("b")
	doc.apply(change.Entry{Rejoin: &change.Rejoin{Name: "b", Generation: b.self().Generation, Was: was.Generation, Peer: was.Peer}})
	c.nodes["c"].members.Offer(doc.Document)
	c.eventually(func() bool { return b.Self().State == admin.Voting })
	c.know(doc.Document)
	require.EqualValues(t, 4, b.self().ID)
	require.False(t, a.peers.Of(2).Alive(), "nobody is there any more")
	require.Len(t, a.peers.All(), 2)
	require.NotNil(t, b.peers.Of(2), "a nil peer would be itself")
	c.eventually(func() bool { return a.peers.Of(4).Alive() && b.peers.Of(1).Alive() })
	atA := c.dial(a)
	atA.epoch = doc.Version
	require.Equal(t, "+OK\r\n", string(atA.do("set "+key+" w").Reply), "a and c still are two of three")

	doc.begin()
	doc.complete()
	a.members.Offer(doc.Document)
	c.know(doc.Document)
	require.Nil(t, a.peers.Of(2))
	c.stop("c")
	c.eventually(func() bool { return !a.peers.Of(3).Connected() })
	atA.epoch = doc.Version
	c.eventually(func() bool { return string(atA.do("set "+key+" x").Reply) == "+OK\r\n" })
}

// TestARestartedNodeHasTheNewestRing, and hears in hellos what it has missed.
func TestARestartedNodeHasTheNewestRing(t *testing.T) {
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, d.use)
	doc := decidedBy(t, c.nodes["a"])
	doc.apply(change.Entry{Rate: &change.Rate{Bytes: 1}})
	c.nodes["a"].members.Offer(doc.Document)
	c.know(doc.Document)
	c.stop("c")
	require.Equal(t, doc.Digest(), d["c"].Ring().Digest())
	missed := *doc
	missed.apply(change.Entry{Rate: &change.Rate{Bytes: 2}})
	c.nodes["a"].members.Offer(missed.Document)
	c.know(missed.Document)
	again := c.start("c", d.use)
	require.GreaterOrEqual(t, again.Document().Version, doc.Version, "at once")
	require.NotNil(t, again.replicas.View())
	c.know(missed.Document)
	c.connected()
}

// TestAVersionThatIsNotDurableIsNotNamed: the store of b fails, and the others go on.
func TestAVersionThatIsNotDurableIsNotNamed(t *testing.T) {
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, d.use)
	b := c.nodes["b"]
	proxy := c.dial(b)
	d["b"].mu.Lock()
	d["b"].saves = func(change.Document) error { return errors.New("read-only file system") }
	d["b"].mu.Unlock()
	doc := decidedBy(t, c.nodes["a"])
	doc.apply(change.Entry{Rate: &change.Rate{Bytes: 1}})
	c.nodes["a"].members.Offer(doc.Document)
	c.eventually(func() bool { return b.Self().State == admin.Failed && c.nodes["c"].Document().Version == 2 })
	props, err := protocol.DecodeProperties(b.members.Hello())
	require.NoError(t, err)
	require.EqualValues(t, 1, props.Ring.Version)
	require.EqualValues(t, 1, b.replicas.View().Table.Version())
	for _, news := range proxy.rings() {
		require.EqualValues(t, 1, news.Version)
	}
}

// TestAProxyIsToldOfTheRing, and asks for it, also of a node that does not vote.
func TestAProxyIsToldOfTheRing(t *testing.T) {
	c := newFormed(t, 3, nil)
	a := c.nodes["a"]
	cl := c.dial(c.nodes["b"])
	doc := decidedBy(t, a)
	doc.apply(change.Entry{Rate: &change.Rate{Bytes: 1}})
	a.members.Offer(doc.Document)
	news := protocol.RingNews{Formation: doc.Formation, Version: 2, Digest: doc.Digest()}
	c.eventually(func() bool { return slices.Contains(cl.rings(), news) })

	c.stop("c")
	c.start("c", nil)
	c.eventually(func() bool { return c.nodes["c"].Self().State == admin.LostState })
	lost := c.dial(c.nodes["c"])
	for _, request := range []protocol.RingRequest{{}, {Formation: doc.Formation, Since: 1}, {Formation: 5, Since: 1}, {Formation: doc.Formation, Since: 9}} {
		payload, err := lost.caller.Call(t.Context(), protocol.MethodRing, request.Append(nil))
		require.NoError(t, err)
		reply, err := protocol.DecodeRingReply(payload)
		require.NoError(t, err)
		have := change.Document{}
		if request.Since == 1 && request.Formation == doc.Formation {
			have, err = change.FromCluster(ring.Cluster{Name: "test", Epoch: 1, Replicas: 3, Members: a.replicas.View().Cluster.Members})
			require.NoError(t, err)
			require.Less(t, len(reply.Delta), 200)
		}
		got, err := reply.Update(have)
		require.NoError(t, err)
		require.Equal(t, doc.Digest(), got.Digest())
	}
	_, err := lost.caller.Call(t.Context(), protocol.MethodRing, []byte{1})
	require.ErrorContains(t, err, "node: ring: ")
}

// TestWhoNamesALaterVersionIsAsked: a request that names one is a reason to ask for it.
func TestWhoNamesALaterVersionIsAsked(t *testing.T) {
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, d.use)
	doc := decidedBy(t, c.nodes["a"])
	doc.apply(change.Entry{Rate: &change.Rate{Bytes: 1}})
	c.stop("b")
	d["b"].ring = &doc.Document
	c.start("b", d.use) // the others hear in its hello
	c.know(doc.Document)

	doc.apply(change.Entry{Rate: &change.Rate{Bytes: 2}})
	a := c.nodes["a"]
	a.conns.closeAll() // so that a's push reaches nobody, and hellos come before
	c.eventually(func() bool { return a.conns.count(wire.RoleNode) == 2 })
	a.members.Offer(doc.Document)
	c.know(doc.Document)
	cl := c.dial(c.nodes["c"])
	cl.epoch = doc.Version
	require.NotEqual(t, protocol.StatusNotDone, cl.do("get k").Status)
}

// TestGossipTellsOfTheRing.
func TestGossipTellsOfTheRing(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, func(o *Options) { o.GossipListen = "127.0.0.1:0" })
	a, b := c.nodes["a"], c.nodes["b"]
	doc := decidedBy(t, a)
	doc.apply(change.Entry{Rate: &change.Rate{Bytes: 1}})
	a.members.Offer(doc.Document)
	c.know(doc.Document)
	c.eventually(func() bool {
		for _, p := range b.gossip.Members() {
			if news, err := protocol.DecodeRingNews(p.Meta); p.Name == "a" && err == nil {
				return news == a.members.News()
			}
		}
		return false
	})
	b.gossiped("a", []byte("something else"))
}
