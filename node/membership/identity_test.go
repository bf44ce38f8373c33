package membership

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
)

// TestARestartedNodeTakesUpItsRing, with the addresses of today, or says why it does not.
func TestARestartedNodeTakesUpItsRing(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*fakeIdentity)
		resumed bool
		err     string
		lost    string
	}{
		"all is there":         {func(*fakeIdentity) {}, true, "", ""},
		"another address":      {func(id *fakeIdentity) { id.ring.Members[1].Peer = "before.example:1" }, true, "", ""},
		"no ring":              {func(id *fakeIdentity) { id.ring = nil; id.lost = "whatever" }, false, "", ""},
		"lost":                 {func(id *fakeIdentity) { id.lost = "after a crash" }, false, "", "after a crash"},
		"another generation":   {func(id *fakeIdentity) { id.generation++ }, false, "", "its data directory /data is another one"},
		"another cluster":      {func(id *fakeIdentity) { id.ring.Cluster = "prod" }, false, `is part of cluster "prod"`, ""},
		"another number of it": {func(id *fakeIdentity) { id.ring.Replicas = 1 }, false, "with 1 replicas of each key", ""},
		"another set of nodes": {func(id *fakeIdentity) { id.ring.Members[1].Name = "x" }, false, "only addresses may change", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := initial(3).Cluster("test", 3)
			for i := range cluster.Members {
				cluster.Members[i].Generation = 5
			}
			doc := documentOf(t, cluster)
			id := &fakeIdentity{generation: 5, ring: &doc}
			test.change(id)
			n := newFakes(t, 3, func(o *Options) { o.Identity, o.Data = id, "/data" })[0]
			resumed, err := n.Resume()
			require.Equal(t, test.resumed, resumed)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, id.generation, n.Self().Generation)
			state, reason := n.State()
			switch {
			case test.resumed:
				require.Equal(t, admin.Voting, state)
				require.Equal(t, "b.example:1", formed(t, n).Members[1].Peer)
			case test.lost != "":
				require.Equal(t, admin.LostState, state)
				require.Contains(t, reason, test.lost)
			default:
				require.Equal(t, admin.Forming, state)
			}
			if !test.resumed {
				require.Nil(t, n.entered.Load())
			}
		})
	}
}
