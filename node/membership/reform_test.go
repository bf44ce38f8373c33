package membership

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
)

// newLost returns three nodes of which some have lost the state that a ring knows; the others vote in it.
func newLost(t *testing.T, begun chan Forgotten, lost ...int) []*fakeNode {
	nodes := newFakes(t, 3, func(o *Options) { o.Reform = func(f Forgotten) { begun <- f } })
	cluster := nodes[0].initial()
	for i, n := range nodes {
		cluster.Members[i] = n.Self()
	}
	for _, i := range lost {
		cluster.Members[i].Generation++
	}
	for _, n := range nodes {
		n.keys = 1
		n.takes(documentOf(t, cluster))
	}
	return nodes
}

func TestAllGiveUpARingThatIsLost(t *testing.T) {
	begun := make(chan Forgotten, 3)
	nodes := newLost(t, begun, 0, 1, 2)
	report, err := nodes[1].Reform(t.Context(), admin.ReformRequest{DryRun: true})
	require.NoError(t, err)
	require.False(t, report.Done)
	require.Empty(t, begun)
	report, err = nodes[1].Reform(t.Context(), admin.ReformRequest{})
	require.NoError(t, err)
	require.True(t, report.Done)
	require.EqualValues(t, 2, report.Epoch)
	for range nodes {
		f := <-begun
		require.Len(t, f.Rings, 1)
		require.EqualValues(t, 1, f.Epoch)
	}
	old := *nodes[0].Document()
	require.ErrorIs(t, nodes[0].AnswerPropose(encode(t, old.Ring())), errFormed, "it is about to be started anew")

	// The next life does not learn that ring any more, and the new one is above it.
	f := Forgotten{Rings: []uint64{old.Formation}, Epoch: 1}
	next := newFakes(t, 3, func(o *Options) { o.Forgotten = f })
	next[0].takes(old)
	require.Nil(t, next[0].Document())
	run(t, next...)
	require.EqualValues(t, 2, formed(t, next[0]).Version)
}

// TestWhoVotesIsAskedTwice: what it holds would be lost.
func TestWhoVotesIsAskedTwice(t *testing.T) {
	begun := make(chan Forgotten, 3)
	nodes := newLost(t, begun, 0, 1)
	_, err := nodes[0].Reform(t.Context(), admin.ReformRequest{})
	require.ErrorContains(t, err, "c (1 keys, 2 bytes)")
	require.ErrorContains(t, err, "--accept-loss")
	voter := nodes[2]
	order := protocol.ReformRequest{Rings: voter.reformState().Rings, Epoch: 1, Generation: voter.Self().Generation}
	require.ErrorIs(t, voter.giveUp(order), errVotes)
	order.Generation++
	order.AcceptLoss = true
	require.ErrorIs(t, voter.giveUp(order), errOtherLife)
	order.Generation, order.Rings = voter.Self().Generation, []uint64{7}
	require.ErrorIs(t, voter.giveUp(order), errNewerRing)
	require.Empty(t, begun)
	report, err := nodes[0].Reform(t.Context(), admin.ReformRequest{AcceptLoss: true})
	require.NoError(t, err)
	require.True(t, report.Done)
	require.Len(t, begun, 3)
}

func TestWhatStopsReforming(t *testing.T) {
	t.Run("no ring yet", func(t *testing.T) {
		n := newFakes(t, 2, nil)[0]
		n.peers[0].(*fakePeer).down.Store(true)
		require.ErrorContains(t, n.judgeReform(make([]protocol.ReformState, 2), true), "the cluster forms by itself; waits for b")
	})
	t.Run("nobody would start it anew", func(t *testing.T) {
		n := newFakes(t, 1, nil)[0]
		n.tryToForm(t.Context())
		_, err := n.Reform(t.Context(), admin.ReformRequest{AcceptLoss: true})
		require.ErrorContains(t, err, "cannot begin again")
	})
	t.Run("data on disk", func(t *testing.T) {
		n := newFakes(t, 1, func(o *Options) {
			o.Identity, o.Data = &fakeIdentity{generation: 5}, "/data"
			o.Reform = func(Forgotten) { panic("its files are there") }
		})[0]
		_, err := n.Resume()
		require.NoError(t, err)
		n.tryToForm(t.Context())
		_, err = n.Reform(t.Context(), admin.ReformRequest{AcceptLoss: true})
		require.ErrorContains(t, err, "move its data directory /data away")
	})
	t.Run("an order that makes no sense", func(t *testing.T) {
		_, _, err := newFakes(t, 1, nil)[0].AnswerReform([]byte("{"))
		require.ErrorContains(t, err, "node: reform: ")
	})
}
