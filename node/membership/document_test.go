package membership

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// newMembers returns nodes that are part of a ring, and do not run.
func newMembers(t *testing.T, size int, change func(*Options)) []*fakeNode {
	nodes := newFakes(t, size, change)
	cluster := nodes[0].initial()
	for i, n := range nodes {
		_, err := n.Resume()
		require.NoError(t, err)
		cluster.Members[i] = n.Self()
	}
	for _, n := range nodes {
		n.takes(documentOf(t, cluster))
		require.NotNil(t, n.entered.Load())
	}
	return nodes
}

func rate(bytes int64) change.Entry { return change.Entry{Rate: &change.Rate{Bytes: bytes}} }

func eventually(t *testing.T, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 10*time.Second, time.Millisecond)
}

func TestALaterVersionReachesWhoHearsOfIt(t *testing.T) {
	nodes := newMembers(t, 3, nil)
	a, b, c := nodes[0], nodes[1], nodes[2]
	run(t, nodes...)
	first := *a.Document()
	next := apply(t, first, rate(1), rate(2))
	a.Offer(next)
	eventually(t, func() bool { return a.News().Version == 3 })
	eventually(t, func() bool { return a.announced.Load().Version == 3 }) // which comes last
	require.Equal(t, next.Digest(), a.entered.Load().Digest(), "the node works by it")
	require.Equal(t, announced{a.News(), true}, *a.announced.Load(), "it is from the group that decides, and nodes are told")
	require.EqualValues(t, 1, b.News().Version)

	b.Hear("a", a.News()) // what it said when it connected, or later
	eventually(t, func() bool { return b.News() == a.News() })
	eventually(t, func() bool { return b.announced.Load().Version == 3 })
	require.Equal(t, announced{a.News(), false}, *b.announced.Load(), "they need not be told by all")
	c.Later("", 3) // a proxy has named it
	eventually(t, func() bool { return c.News() == a.News() })
	asked := a.asked.Load() + b.asked.Load()
	a.Hear("b", b.News())
	b.Offer(first)
	b.Hear("a", protocol.RingNews{Formation: 5, Version: 9})
	c.Hear("stranger", protocol.RingNews{Formation: first.Formation, Version: 9})
	eventually(t, func() bool { return len(c.heard.names()) == 0 })
	require.Equal(t, asked, a.asked.Load()+b.asked.Load(), "no news")
	require.EqualValues(t, 3, b.News().Version)
}

// TestALateRumourIsNone: of what a node is said to know the latest version counts, in whatever order it is heard.
func TestALateRumourIsNone(t *testing.T) {
	n := newMembers(t, 2, nil)[0]
	formation := n.News().Formation
	for _, version := range []uint64{5, 7, 6} {
		n.Hear("b", protocol.RingNews{Formation: formation, Version: version})
	}
	r := n.heard.of("b")
	require.EqualValues(t, 7, r.news.Version)
	r.tries = 3
	n.Hear("b", protocol.RingNews{Formation: formation, Version: 7})
	require.Zero(t, n.heard.of("b").tries, "it says so again: it is asked again")
}

// TestAVersionIsNamedWhenItIsDurable: who named it and has forgotten it would let others count on what it does not know.
func TestAVersionIsNamedWhenItIsDurable(t *testing.T) {
	id := &fakeIdentity{generation: 9}
	n := newMembers(t, 1, func(o *Options) { o.Identity = id })[0]
	doc := *n.Document()
	id.saves = errors.New("read-only file system")
	n.takes(apply(t, doc, rate(1)))
	require.ErrorIs(t, *n.failed.Load(), id.saves)
	require.EqualValues(t, 1, n.News().Version)
	require.EqualValues(t, 1, n.announced.Load().Version)
	require.EqualValues(t, 1, n.entered.Load().Version, "nor does the node work by it")

	id.saves = nil
	n.takes(apply(t, doc, rate(1)))
	require.EqualValues(t, 1, n.News().Version, "the store has failed")
	n.failed.Store(nil)
	n.takes(apply(t, doc, rate(1)))
	require.EqualValues(t, 2, n.News().Version)
	require.EqualValues(t, 2, id.ring.Version)

	again := newFakes(t, 1, func(o *Options) { o.Identity = id })[0]
	resumed, err := again.Resume()
	require.NoError(t, err)
	require.True(t, resumed)
	require.Equal(t, n.News(), again.News(), "the newest one is taken up again")
}

func TestEachVersionIsTold(t *testing.T) {
	var told []uint64
	n := newMembers(t, 1, func(o *Options) {
		o.Changed = func(doc change.Document) { told = append(told, doc.Version) }
	})[0]
	doc := *n.Document()
	n.takes(apply(t, doc, rate(1)))
	n.takes(doc)
	n.takes(apply(t, doc, rate(1), rate(2), rate(3)))
	require.Equal(t, []uint64{1, 2, 4}, told)
}

// TestWhoComesAndGoes: a node that joins, one that has lost its state, and one that has left.
func TestWhoComesAndGoes(t *testing.T) {
	nodes := newMembers(t, 3, nil)
	a, b := nodes[0], nodes[1]
	doc := *a.Document()

	joins, err := New(a, Options{Name: "d", ClusterName: "test", Peer: "d.example:1", Weight: 1, Replicas: 3, Logger: a.opt.Logger})
	require.NoError(t, err)
	d := &fakeNode{Membership: joins}
	joins.node = d
	require.Zero(t, d.Self().ID)
	d.takes(doc)
	state, reason := d.State()
	require.Equal(t, admin.LostState, state)
	require.Contains(t, reason, "the ring has no node d")
	require.NotNil(t, d.met.Load())
	doc = apply(t, doc, change.Entry{Join: &change.Join{Member: d.Self()}})
	d.takes(doc)
	state, _ = d.State()
	require.Equal(t, admin.Voting, state)
	require.EqualValues(t, 4, d.Self().ID)

	again := newFakes(t, 3, nil)[1] // b, without its state
	again.takes(doc)
	state, _ = again.State()
	require.Equal(t, admin.LostState, state)
	was := b.Self()
	doc = apply(t, doc, change.Entry{Rejoin: &change.Rejoin{Name: "b", Generation: again.Self().Generation, Was: was.Generation, Peer: was.Peer}})
	again.takes(doc)
	state, _ = again.State()
	require.Equal(t, admin.Voting, state)
	require.EqualValues(t, 5, again.Self().ID)
	b.takes(doc) // two processes of one name
	require.ErrorIs(t, *b.broken.Load(), errReplaced)
	require.EqualValues(t, 1, b.News().Version)

	doc = apply(t, doc, change.Entry{Forget: &change.Forget{Name: "d"}})
	d.takes(doc)
	state, _ = d.State()
	require.Equal(t, admin.Left, state)
	props, err := protocol.DecodeProperties(d.Hello())
	require.NoError(t, err)
	require.False(t, props.Voting)
	require.Equal(t, doc.Version, props.Ring.Version)
}

// TestARingThatHasChangedIsNotComparedWithTheSettings it formed of.
func TestARingThatHasChangedIsNotComparedWithTheSettings(t *testing.T) {
	id := &fakeIdentity{generation: 9}
	n := newMembers(t, 3, func(o *Options) {
		if o.Name == "a" {
			o.Identity = id
		}
	})[0]
	joins := ring.Member{Name: "d", Peer: "d.example:1", Weight: 1, Generation: 77}
	n.takes(apply(t, *n.Document(), change.Entry{Join: &change.Join{Member: joins}}))
	again := newFakes(t, 2, func(o *Options) { o.Identity, o.Replicas = id, 1 })[0]
	resumed, err := again.Resume()
	require.NoError(t, err)
	require.True(t, resumed)
	props, err := protocol.DecodeProperties(again.Hello())
	require.NoError(t, err)
	require.Empty(t, props.Initial)
	require.Zero(t, props.Replicas)
	hello := props.Encode(again.Hello())
	hello.Name = "d"
	props.Member = &joins
	require.NoError(t, again.Judge(hello, props), "it is not in the initial cluster")
}

// TestMachinesThatHaveMoved are dialed where the initial cluster says, until a version of the ring says where.
func TestMachinesThatHaveMoved(t *testing.T) {
	id := &fakeIdentity{generation: 9}
	n := newMembers(t, 2, func(o *Options) {
		if o.Name == "a" {
			o.Identity = id
		}
	})[0]
	b, _ := n.Document().ByName("b")
	moved := newFakes(t, 2, func(o *Options) { o.Identity = id })[0]
	moved.opt.Initial[1].Peer = "b.example:9"
	resumed, err := moved.Resume()
	require.NoError(t, err)
	require.True(t, resumed)
	require.Equal(t, n.News(), moved.News(), "the document is the same")
	entered, _ := moved.entered.Load().ByName("b")
	require.Equal(t, "b.example:9", entered.Peer)
	answer := func() []protocol.Address {
		payload, err := moved.AnswerRing(protocol.RingRequest{}.Append(nil))
		require.NoError(t, err)
		reply, err := protocol.DecodeRingReply(payload)
		require.NoError(t, err)
		return reply.Moved
	}
	require.Equal(t, []protocol.Address{{ID: 2, Peer: "b.example:9"}}, answer(), "whoever asks is told")

	b.Peer = "b.example:10"
	moved.takes(apply(t, *moved.Document(), change.Entry{Join: &change.Join{Member: b.Member}}))
	entered, _ = moved.entered.Load().ByName("b")
	require.Equal(t, "b.example:10", entered.Peer)
	require.Empty(t, answer())
}
