package node

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/ring/change"
)

// operate returns a client of a node's admin API.
func (c *testCluster) operate(name string) *admin.Client {
	server := httptest.NewServer(admin.NewHandler(c.nodes[name], http.NotFoundHandler(), admin.Access{}))
	client := admin.NewClient(server.URL, "")
	c.t.Cleanup(func() { client.Close(); server.Close() })
	return client
}

// TestOperatorsChangeTheRing: what is said to one node all know, and what is refused says why.
func TestOperatorsChangeTheRing(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 4, nil)
	a, d := c.operate("a"), c.operate("d")
	ops := admin.RingOption{By: "ops"}
	_, err := a.StageRing(t.Context(), []change.Staged{{Kind: change.JoinMember, Name: "e"}}, ops)
	require.ErrorContains(t, err, `"e": no such member`)
	plan, err := a.StageRing(t.Context(), []change.Staged{{Kind: change.SetWeight, Name: "b", Number: 2}}, ops)
	require.NoError(t, err)
	require.NotEmpty(t, plan.ID)
	require.NotZero(t, plan.Preview.Slots)
	require.Empty(t, plan.Loss)
	c.eventually(func() bool {
		other, err := d.RingPlan(t.Context())
		return err == nil && other.ID == plan.ID
	})
	status, err := d.PauseRing(t.Context(), ops)
	require.NoError(t, err)
	require.True(t, status.Paused)
	require.Equal(t, "d", status.Seen)
	status, err = d.CommitRing(t.Context(), plan.ID, "", ops)
	require.NoError(t, err)
	require.Equal(t, plan.ID, status.Plan.ID)
	require.Empty(t, status.Plan.Stuck)
	for _, m := range status.Members {
		require.True(t, m.Alive, m.Name)
	}
	c.eventually(func() bool {
		events, err := a.RingHistory(t.Context())
		return err == nil && len(events) > 0 && events[len(events)-1].What == "commits plan "+plan.ID+": weight b 2"
	})
	_, err = a.CommitRing(t.Context(), plan.ID, "", ops)
	require.ErrorContains(t, err, "no change is staged")
}

// TestOperatorsAreToldThatNobodyDecides: with too few of the group nothing is done, and the reason is said.
func TestOperatorsAreToldThatNobodyDecides(t *testing.T) {
	t.Parallel()
	c := newTestCluster(t, 3)
	c.start("a", nil)
	_, err := c.operate("a").Ring(t.Context())
	require.ErrorContains(t, err, "knows no ring yet")
	c.start("b", nil)
	c.start("c", nil)
	c.connected()
	a := c.operate("a")
	_, err = a.PauseRing(t.Context(), admin.RingOption{})
	require.NoError(t, err)
	c.stop("b")
	c.stop("c")
	_, err = a.ResumeRing(t.Context(), admin.RingOption{})
	require.Error(t, err)
	status, err := a.Ring(t.Context())
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, false}, []bool{status.Members[0].Alive, status.Members[1].Alive, status.Members[2].Alive})
}
