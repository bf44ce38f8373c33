package node

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, func(o *Options) {
		o.Rack, o.Weight = "rack-"+o.Name, 2
		o.GossipListen, o.Secret = "127.0.0.1:0", []byte("a secret of the cluster")
	})
	c.eventually(func() bool {
		status, err := c.nodes["b"].Status(t.Context())
		require.NoError(t, err)
		for _, n := range status.Nodes {
			if len(n.SeenBy) != 2 { // gossip takes its time
				return false
			}
		}
		return c.nodes["b"].State().GossipAlive >= 2
	})
	status, err := c.nodes["b"].Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, []any{"test", uint64(1), true, 3, "b"}, []any{status.Cluster, status.Epoch, status.Formed, status.Replicas, status.Seen})
	homes := 0
	for i, n := range status.Nodes {
		require.Equal(t, c.initial[i].Name, n.Name)
		require.Equal(t, admin.Voting, n.State)
		require.Equal(t, []any{"rack-" + n.Name, "test", c.initial[i].Peer}, []any{n.Rack, n.Version, n.Peer})
		require.Equal(t, ring.Slots, n.ReplicaSlots)
		homes += n.HomeSlots
	}
	require.Equal(t, ring.Slots, homes)
	require.Empty(t, status.Warnings)

	c.stop("c")
	c.eventually(func() bool { return c.statusOf("b", "c").State == admin.Unreachable })
	require.Equal(t, "rack-c", c.statusOf("b", "c").Rack, "what was known of it")
	require.NotEmpty(t, c.statusOf("b", "c").Reason)
}

// TestStatusSaysWhoDecides on the ring, who leads, and that no majority is left to do so.
func TestStatusSaysWhoDecides(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, soon)
	leader := c.decides()
	require.True(t, leader.State().RingLeads)
	name := leader.opt.Name
	for _, n := range c.nodes {
		c.eventually(func() bool { // a follower applies what made the voters a moment after its leader
			status, err := n.Status(t.Context())
			require.NoError(t, err)
			return n.State().RingVotes && status.Deciders.Decides &&
				status.Deciders.String() == "Changes of the ring are decided by a, b, c; "+name+" leads."
		})
	}
	for other := range c.nodes {
		if other != name {
			c.stop(other)
		}
	}
	c.eventually(func() bool {
		status, err := leader.Status(t.Context())
		return err == nil && !status.Deciders.Decides && slices.ContainsFunc(status.Warnings, func(w string) bool { return strings.Contains(w, "quoll ring recover") })
	})
	c.eventually(func() bool { return !leader.State().RingLeads })
}

func TestStatusCall(t *testing.T) {
	c := newFormed(t, 2, nil)
	cl := c.dial(c.nodes["a"])
	require.Equal(t, "+OK\r\n", string(cl.do("set k value").Reply))
	var self admin.NodeStatus
	require.NoError(t, cl.caller.CallJSON(t.Context(), protocol.MethodStatus, nil, &self))
	require.Equal(t, []any{"a", admin.Voting, uint64(1), uint64(len("k") + len("value")), 1},
		[]any{self.Name, self.State, self.Keys, self.Bytes, self.LeadingSlots})
	var all admin.Status
	require.NoError(t, cl.caller.CallJSON(t.Context(), protocol.MethodCluster, nil, &all))
	require.Equal(t, "a", all.Seen)
	require.Len(t, all.Nodes, 2)
	state := c.nodes["a"].State()
	require.Equal(t, []any{true, 1, uint64(1)}, []any{state.Voting, state.SlotsLed, state.Keys})
}

func TestLocate(t *testing.T) {
	c := newFormed(t, 4, nil)
	key := c.keyOf(c.nodes["b"])
	require.Equal(t, "+OK\r\n", string(c.dial(c.nodes["b"]).do("psetex "+key+" 100000 value").Reply))
	var location admin.Location
	c.eventually(func() bool { // the third replica may lag
		var err error
		location, err = c.nodes["a"].Locate(t.Context(), 0, []byte(key)) // replica or not
		require.NoError(t, err)
		for _, r := range location.Replicas {
			if !r.Present {
				return false
			}
		}
		return true
	})
	require.Equal(t, []any{ring.SlotOf([]byte(key)), uint64(1), "b"}, []any{location.Slot, location.Epoch, location.Home})
	require.Len(t, location.Replicas, 3)
	for i, r := range location.Replicas {
		require.Equal(t, []any{i == 0, r.Node == "b", "", "1.2.1", "string", 5},
			[]any{r.Preferred, r.Home, r.Error, r.Version, r.Type, r.Size})
		require.NotNil(t, r.ExpireAt)
		require.Equal(t, "1.2.0", r.Promised)
		require.Equal(t, location.Replicas[0].Digest, r.Digest, "one version, one state")
	}
	payload, err := json.Marshal(location)
	require.NoError(t, err)
	require.Contains(t, string(payload), `"expire_at"`)

	require.Equal(t, ":1\r\n", string(c.dial(c.nodes["b"]).do("del "+key).Reply))
	c.eventually(func() bool { // deleted, held by all, purged
		location, err := c.nodes["a"].Locate(t.Context(), 0, []byte(key))
		require.NoError(t, err)
		for _, r := range location.Replicas {
			if r.Present || r.ExpireAt != nil {
				return false
			}
		}
		return true
	})
	c.stop("c")
	c.eventually(func() bool {
		location, err := c.nodes["a"].Locate(t.Context(), 0, []byte(c.keyOf(c.nodes["a"])))
		require.NoError(t, err)
		return len(location.Replicas) == 3
	})
}
