package membership

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

func TestNodesForm(t *testing.T) {
	nodes := newFakes(t, 3, nil)
	last := nodes[0].peers[1].(*fakePeer)
	last.down.Store(true)
	nodes[0].tryToForm(t.Context())
	state, reason := nodes[0].State()
	require.Equal(t, admin.Forming, state)
	require.Equal(t, "waits for c at c.example:1 (down)", reason)
	require.Zero(t, nodes[1].bound, "nothing is proposed before all are there")
	run(t, nodes...)
	last.down.Store(false)
	cluster := formed(t, nodes[0])
	require.EqualValues(t, 1, cluster.Version)
	for _, n := range nodes {
		require.Equal(t, cluster.Digest(), formed(t, n).Digest())
		me, _ := cluster.ByName(n.opt.Name)
		require.Equal(t, n.Self().Generation, me.Generation)
		state, _ := n.State()
		require.Equal(t, admin.Voting, state)
	}
}

// TestProposalsBindUntilTheNextOne goes through formation call by call.
func TestProposalsBindUntilTheNextOne(t *testing.T) {
	n := newFakes(t, 3, nil)[1] // its coordinator a does not run
	ringOf := func(generation, others uint64) []byte {
		cluster := n.initial()
		for i := range cluster.Members {
			cluster.Members[i].Generation = others
		}
		cluster.Members[1] = n.Self()
		cluster.Members[1].Generation = generation
		return encode(t, cluster)
	}
	first, second := ringOf(n.Self().Generation, 1), ringOf(n.Self().Generation, 2)
	require.ErrorIs(t, n.AnswerCommit(first), errNotBound)
	require.ErrorIs(t, n.AnswerPropose(ringOf(7, 1)), errNotMyself)
	require.ErrorIs(t, n.AnswerPropose([]byte(`{}`)), ring.ErrInvalid)
	require.Error(t, n.AnswerPropose([]byte(`?`)))
	require.NoError(t, n.AnswerPropose(first))
	require.NoError(t, n.AnswerPropose(second))
	require.ErrorIs(t, n.AnswerCommit(first), errNotBound)
	require.Nil(t, n.entered.Load())
	require.NoError(t, n.AnswerCommit(second))
	require.NotNil(t, n.entered.Load())
	require.NoError(t, n.AnswerCommit(second), "a repeated commit")
	require.ErrorIs(t, n.AnswerPropose(first), errFormed)
}

// TestALostCommitIsLearnedFromOthers: a node that accepted the ring and did not hear
// that it was formed.
func TestALostCommitIsLearnedFromOthers(t *testing.T) {
	n := newFakes(t, 3, nil)[1]
	cluster := n.initial()
	cluster.Members[0].Generation, cluster.Members[1], cluster.Members[2].Generation = 5, n.Self(), 6
	doc := documentOf(t, cluster)
	former := n.peers[0].(*fakePeer).node
	former.describe(func(self *ring.Member) { self.Generation = 5 })
	former.takes(doc)
	props := protocol.Properties{Initial: n.opt.Initial.String(), Member: &cluster.Members[0], Replicas: 3, Ring: former.News()}
	require.NoError(t, n.Judge(wire.Hello{Role: wire.RoleNode, Name: "a", Cluster: "test"}, props))
	run(t, n)
	require.Equal(t, doc.Digest(), formed(t, n).Digest())
	require.Equal(t, doc.Formation, n.News().Formation)
}

// TestWhoIsNotOfTheRingDoesNotVote: it is a later life of a member.
func TestWhoIsNotOfTheRingDoesNotVote(t *testing.T) {
	n := newFakes(t, 3, nil)[1]
	cluster := n.initial()
	for i := range cluster.Members {
		cluster.Members[i].Generation = 5
	}
	doc := documentOf(t, cluster)
	n.takes(doc)
	require.Nil(t, n.entered.Load())
	require.Equal(t, doc.Digest(), n.Document().Digest())
	require.NotNil(t, n.met.Load(), "it follows the ring")
	state, reason := n.State()
	require.Equal(t, admin.LostState, state)
	require.Contains(t, reason, "restarted without its state")
	require.Contains(t, reason, "quoll ring reform")
	me := cluster.Members[1]
	me.Generation = n.Self().Generation
	cluster.Members[1] = me
	require.ErrorIs(t, n.AnswerPropose(encode(t, cluster)), errFormed)
	props, err := protocol.DecodeProperties(n.Hello())
	require.NoError(t, err)
	require.False(t, props.Voting)
	require.Equal(t, n.News(), props.Ring, "others learn the ring from it")
}

// TestARingIsSavedBeforeItIsEntered, or the store has failed, and it is not entered.
func TestARingIsSavedBeforeItIsEntered(t *testing.T) {
	id := &fakeIdentity{generation: 9, saves: errors.New("read-only file system")}
	n := newFakes(t, 1, func(o *Options) { o.Identity = id })[0]
	resumed, err := n.Resume()
	require.NoError(t, err)
	require.False(t, resumed)
	n.tryToForm(t.Context())
	require.ErrorIs(t, *n.failed.Load(), id.saves)
	require.Nil(t, n.entered.Load())
	n.failed.Store(nil)
	id.saves = nil
	n.tryToForm(t.Context())
	require.Equal(t, formed(t, n).Digest(), id.ring.Digest())
	require.EqualValues(t, 9, id.ring.Members[0].Generation)
}

// TestReplicasThatDiffer end the node that is outvoted, when all have said what they have.
func TestReplicasThatDiffer(t *testing.T) {
	n := newFakes(t, 3, nil)[0]
	said := func(name string, replicas int) error {
		return n.compareReplicas(wire.Hello{Name: name}, protocol.Properties{Replicas: replicas})
	}
	require.NoError(t, said("b", 3))
	require.ErrorIs(t, said("c", 2), errDiffer)
	require.Nil(t, n.broken.Load())
	require.ErrorIs(t, said("b", 2), errDiffer)
	var wrong *ConfigError
	require.ErrorAs(t, *n.broken.Load(), &wrong)
	require.Equal(t, "replicas", wrong.Field)
	require.ErrorIs(t, said("x", 2), errDiffer, "a stranger")
}

func TestANameThatIsNotInTheCluster(t *testing.T) {
	_, err := New(nil, Options{Name: "x", Initial: initial(1)})
	require.ErrorContains(t, err, "node x is not in the initial cluster a=a.example:1")
}
