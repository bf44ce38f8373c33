package route

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// apply returns what comes of a document by entries.
func apply(t *testing.T, doc change.Document, entries ...change.Entry) change.Document {
	t.Helper()
	for _, e := range entries {
		var err error
		doc, err = change.Apply(doc, e, 1)
		require.NoError(t, err)
	}
	return doc
}

func rate(bytes int64) change.Entry { return change.Entry{Rate: &change.Rate{Bytes: bytes}} }

// versionOf is which version a proxy works by.
func versionOf(c *Coordinator) uint64 { return c.ring.Load().table.Version() }

// TestAProxyFollowsTheRing: it hears of a later version in a frame, in a hello, and by a refusal, and asks the node for it.
func TestAProxyFollowsTheRing(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	old := c.ring.Load()

	second := apply(t, f.document, rate(1))
	f.nodes[1].vote(second)
	f.nodes[1].push(newsOf(second))
	eventually(t, func() bool { return versionOf(c) == 2 }, "it was told")
	require.Equal(t, old.nodes, c.ring.Load().nodes)
	require.EqualValues(t, 2, old.nodes[1].version.Load())
	require.EqualValues(t, 1, old.nodes[0].version.Load(), "it has not said that it knows it")
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(f.key(1), "v"))), "nothing has changed about the slot")

	third := apply(t, second, rate(2))
	f.nodes[2].vote(third)
	f.nodes[2].cut()
	eventually(t, func() bool { return versionOf(c) == 3 }, "it hears it when it connects again")

	fourth := apply(t, third, rate(3))
	f.nodes[0].document.Store(&fourth)
	f.play(func(r *request) {
		if r.node == f.nodes[0] && versionOf(c) == 3 {
			r.notDone(answer.EpochChanged, 0)
			return
		}
		f.answer(r)
	})
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(f.key(1), "w"))))
	eventually(t, func() bool { return versionOf(c) == 4 }, "it was refused, and has asked")

	asked := f.nodes[1].asked.Load()
	f.nodes[1].push(newsOf(second))
	f.nodes[1].push(protocol.RingNews{Formation: 5, Version: 9})
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(f.key(1), "x"))))
	require.Equal(t, asked, f.nodes[1].asked.Load(), "no news")
}

// TestAProxyConnectsWithWhoComes, and parts with who has left. A life that is lost, and named by slots, is nobody.
func TestAProxyConnectsWithWhoComes(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	joins := startNode(t, f, 4, fakeClusterName)
	doc := apply(t, f.document, change.Entry{Join: &change.Join{Member: ring.Member{Name: "n4", Peer: joins.address(), Weight: 1, Generation: 1}}})
	joins.vote(doc)
	f.nodes[0].vote(doc)
	f.nodes[0].push(newsOf(doc))
	f.awaitUp(c, 4)

	doc = apply(t, doc, change.Entry{Forget: &change.Forget{Name: "n4"}},
		change.Entry{Rejoin: &change.Rejoin{Name: "n2", Generation: 2, Was: 1, Peer: f.nodes[1].address()}})
	f.nodes[0].vote(doc)
	f.nodes[0].push(newsOf(doc))
	eventually(t, func() bool { return versionOf(c) == doc.Version }, "it has learned")
	view := c.ring.Load()
	require.Len(t, view.nodes, 3)
	lost := view.node(2)
	require.NotNil(t, lost, "slots name it")
	require.False(t, lost.up.Load())
	again, _ := doc.ByName("n2")
	eventually(t, func() bool { return view.node(again.ID).link.Err() != nil }, "it is refused: it is not in the life that the ring knows")
	require.ErrorContains(t, view.node(again.ID).link.Err(), "not in the life that the ring knows")
	require.Equal(t, []string{"+OK\r\n", "$1\r\nv\r\n"}, texts(run(t, c, set(f.key(1), "v"), get(f.key(1)))), "two of three are there")
	props := *f.nodes[1].props.Load()
	props.Member, props.Ring = &again.Member, newsOf(doc)
	f.nodes[1].props.Store(&props)
	f.awaitUp(c, 3)
}

// TestTheAddressesOfTodayCount: a node says where it reaches members that have moved.
func TestTheAddressesOfTodayCount(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	f.nodes[0].moved = []protocol.Address{{ID: 3, Peer: f.nodes[2].address()}}
	doc := f.document
	doc.Members = append([]change.Life(nil), doc.Members...)
	doc.Members[2].Peer = "127.0.0.1:1"
	for _, n := range f.nodes {
		n.vote(doc)
	}
	c := newCoordinator(t, patient, f.nodes[0].address())
	f.awaitUp(c, 3)
}

// TestAnotherPast: a delta that does not fit is no use, and the proxy asks for all of it.
func TestAnotherPast(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	doc := apply(t, apply(t, f.document, rate(5)), rate(6))
	other := apply(t, f.document, rate(7))
	f.nodes[0].vote(other)
	f.nodes[0].push(newsOf(other))
	eventually(t, func() bool { return versionOf(c) == 2 }, "it has learned")
	f.nodes[1].vote(doc)
	f.nodes[1].push(newsOf(doc))
	eventually(t, func() bool { return versionOf(c) == 3 }, "it has learned the other one")
}
