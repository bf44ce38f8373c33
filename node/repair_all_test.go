package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// allSlots is a request for all slots of all nodes.
var allSlots = admin.RepairRequest{Last: ring.Slots - 1}

// newMissing starts a cluster whose node c has missed some keys, and compares nothing by itself.
func newMissing(t *testing.T, keys int) *testCluster {
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, d.use)
	c.stop("c")
	for i := range keys {
		c.set("a", fmt.Sprint("key-", i), "value")
	}
	c.start("c", d.use)
	c.connected()
	return c
}

// missing counts the keys that a node does not hold.
func (c *testCluster) missing(name string, keys int) (missing int) {
	for i := range keys {
		key := fmt.Sprint("key-", i)
		if c.held(name, ring.SlotOf([]byte(key)), key) == nil {
			missing++
		}
	}
	return missing
}

// repairAll repairs until nothing but some errors that have to be is in the way, as links may be
// slow on a busy machine, and returns the last report.
func (c *testCluster) repairAll(name string, request admin.RepairRequest, inevitable int) (last admin.RepairProgress) {
	c.t.Helper()
	for range 10 {
		if last = c.repairOnce(name, request); last.Failed == 0 && len(last.Errors) == inevitable {
			return last
		}
	}
	c.t.Fatalf("it does not succeed: %+v", last)
	return last
}

func (c *testCluster) repairOnce(name string, request admin.RepairRequest) (last admin.RepairProgress) {
	c.t.Helper()
	require.NoError(c.t, c.nodes[name].RepairAll(c.t.Context(), request, func(p admin.RepairProgress) error {
		require.False(c.t, last.Done, "a report after the last one")
		last = p
		return nil
	}))
	require.True(c.t, last.Done)
	return last
}

func TestRepairOfAllNodes(t *testing.T) {
	t.Parallel()
	const keys = 20
	c := newMissing(t, keys)
	require.Equal(t, keys, c.missing("c", keys))

	dry := allSlots
	dry.DryRun = true
	p := c.repairAll("b", dry, 0)
	require.GreaterOrEqual(t, p.Keys, int64(keys), "of each pair that differs")
	require.NotZero(t, p.Bytes)
	require.GreaterOrEqual(t, p.Differing, int64(keys)*9/10)
	require.GreaterOrEqual(t, p.Slots, int64(ring.Slots*2), "every slot with two peers")
	require.Equal(t, p.Total, p.Slots)
	require.Equal(t, keys, c.missing("c", keys), "nothing is written")
	require.Zero(t, c.nodes["a"].Self().RepairedKeys+c.nodes["b"].Self().RepairedKeys+c.nodes["c"].Self().RepairedKeys)

	slot := ring.SlotOf([]byte("key-7"))
	c.repairAll("b", admin.RepairRequest{First: slot, Last: slot}, 0)
	require.Equal(t, keys-1, c.missing("c", keys), "only that slot")
	require.NotNil(t, c.held("c", slot, "key-7"))

	c.repairAll("c", admin.RepairRequest{Last: ring.Slots - 1, Node: "c"}, 0)
	require.Zero(t, c.missing("c", keys))
	c.eventually(c.converged)

	p = c.repairAll("a", allSlots, 0)
	require.Equal(t, []int64{0, 0, 0}, []int64{p.Keys, p.Failed, p.Differing})
	status, err := c.nodes["a"].Status(t.Context())
	require.NoError(t, err)
	var again int64
	for _, m := range status.Missed() {
		require.Zero(t, m.Slots)
		require.False(t, m.Compared.IsZero())
		again += m.Keys
	}
	require.GreaterOrEqual(t, again, int64(keys))
	state := c.nodes["a"].State()
	require.Len(t, state.Repair, 2)
}

func TestRepairWithoutOneNode(t *testing.T) {
	t.Parallel()
	const keys = 5
	c := newMissing(t, keys)
	c.stop("b")
	c.eventually(func() bool { return !c.nodes["a"].peers.Of(2).Alive() && !c.nodes["c"].peers.Of(2).Alive() })
	p := c.repairAll("a", allSlots, 3)
	require.Equal(t, []string{"a", "b", "b", "", "c", "b"},
		[]string{p.Errors[0].Node, p.Errors[0].Peer, p.Errors[1].Node, p.Errors[1].Peer, p.Errors[2].Node, p.Errors[2].Peer})
	require.Contains(t, p.Errors[1].Error, "it cannot be reached: ")
	require.Zero(t, c.missing("c", keys), "the others go on")
}

func TestRepairRefusals(t *testing.T) {
	c := newFormed(t, 2, nil)
	report := func(admin.RepairProgress) error { return nil }
	err := c.nodes["a"].RepairAll(t.Context(), admin.RepairRequest{Node: "x"}, report)
	require.EqualError(t, err, `there is no node "x" in the cluster, but a, b`)

	request := protocol.RepairRequest{ID: 1, Last: ring.Slots - 1}
	payload, err := json.Marshal(request)
	require.NoError(t, err)
	_, err = c.dial(c.nodes["a"]).caller.Call(t.Context(), protocol.MethodRepair, payload)
	require.ErrorContains(t, err, "only nodes ask for a repair")

	gone := errors.New("nobody reads")
	require.ErrorIs(t, c.nodes["a"].RepairAll(t.Context(), allSlots, func(admin.RepairProgress) error { return gone }), gone)
}

// TestPausedRepair: the background compares, and only somebody who asks for it has it written.
func TestPausedRepair(t *testing.T) {
	t.Parallel()
	const keys = 5
	d := newDisks("a", "b", "c")
	paused := func(o *Options) { d.use(o); comparing(o); o.RepairRate = -1 }
	c := newFormed(t, 3, paused)
	c.stop("c")
	for i := range keys {
		c.set("a", fmt.Sprint("key-", i), "value")
	}
	c.start("c", paused)
	missed := func() int {
		status, err := c.nodes["a"].Status(t.Context())
		require.NoError(t, err)
		return status.Missed()[2].Slots
	}
	c.eventually(func() bool { return missed() >= keys-1 })
	require.Equal(t, keys, c.missing("c", keys))
	require.True(t, c.nodes["a"].Self().RepairPaused)
	c.repairAll("a", allSlots, 0)
	require.Zero(t, c.missing("c", keys))
}
