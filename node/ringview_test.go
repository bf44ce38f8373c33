package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/ring/change"
)

func TestOperatorsSeeTheRingThroughANode(t *testing.T) {
	c := newTestCluster(t, 3)
	a := c.start("a", soon)
	_, err := a.RingView(t.Context())
	require.ErrorContains(t, err, "knows no ring yet: waits for b")
	c.start("b", soon)
	c.start("c", soon)
	c.connected()
	c.set("a", "k", "value")
	view, err := a.RingView(t.Context())
	require.NoError(t, err)
	require.Equal(t, "a", view.Self)
	require.EqualValues(t, 1, view.Document.Version)
	held := int64(0)
	for slot := range view.Document.Slots {
		held += view.SlotBytes(uint16(slot))
	}
	require.EqualValues(t, len("k")+len("value"), held)

	conflict := admin.Conflict("")
	refused := a.ProposeRing(t.Context(), change.Entry{Forget: &change.Forget{Name: "z"}})
	require.IsType(t, conflict, refused)
	require.ErrorContains(t, refused, "no such member")
	require.NoError(t, a.ProposeRing(t.Context(), rate(3)))
	view, err = a.RingView(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, view.Document.Rate)
	c.stop("c")
	c.eventually(func() bool { return !view.Alive(3) })
	require.True(t, view.Alive(1) && view.Alive(2))
	require.False(t, view.Alive(9))
	err = a.ProposeRing(t.Context(), change.Entry{Accept: &change.AcceptLoss{Cluster: "test", Gone: []uint16{2}}})
	require.IsType(t, conflict, err, "it answers")
}
