package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// TestALifeThatIsLostIsNoMember, though slots name it until its next life has taken its place.
func TestALifeThatIsLostIsNoMember(t *testing.T) {
	cluster := ring.Initial{{Name: "a", Peer: "127.0.0.1:1"}, {Name: "b", Peer: "127.0.0.1:2"}}.Cluster("test", 2)
	cluster.Members[0].Generation, cluster.Members[1].Generation = 5, 6
	doc, err := change.FromCluster(cluster)
	require.NoError(t, err)
	before := cluster.Members[1]
	after := before
	after.Generation = 7
	v, err := NewView(doc, 1)
	require.NoError(t, err)
	require.EqualValues(t, 2, v.Life(&before))
	require.Zero(t, v.Life(&after))
	require.Zero(t, v.Life(nil))

	doc, err = change.Apply(doc, change.Entry{Rejoin: &change.Rejoin{Name: "b", Generation: 7, Was: 6, Peer: "127.0.0.1:2"}}, 1)
	require.NoError(t, err)
	v, err = NewView(doc, 1)
	require.NoError(t, err)
	require.Zero(t, v.Life(&before))
	require.EqualValues(t, 3, v.Life(&after))
	require.Len(t, v.Lives.Members, 3)
	require.Len(t, v.Cluster.Members, 2)
	require.True(t, v.Table.Contains(0, 2))
	require.EqualValues(t, 1, v.Self)
}
