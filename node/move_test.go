package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// plan stages changes at a node, and commits them.
func (c *testCluster) plan(n *Node, changes ...change.Staged) {
	c.t.Helper()
	for _, s := range changes {
		require.NoError(c.t, n.Propose(c.t.Context(), change.Entry{Stage: &s}))
	}
	commit, err := change.Propose(*n.Document())
	require.NoError(c.t, err)
	require.NoError(c.t, n.Propose(c.t.Context(), change.Entry{Commit: commit}))
}

// arrived waits until no node knows of a plan under way.
func (c *testCluster) arrived() {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for _, n := range c.nodes {
			if d := n.Document(); d.Plan != nil || d.Version != c.nodes["a"].Document().Version {
				return false
			}
		}
		return true
	}, 6*patience, 10*time.Millisecond)
}

// TestAPlanMovesSlots: what is decided, collected and reported is one thing. No write is lost.
func TestAPlanMovesSlots(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves thousands of slots")
	}
	c := newFormed(t, 4, soon)
	clients := c.dialAll()
	for i := range 100 {
		require.Equal(t, "+OK\r\n", clients.run(fmt.Sprintf("set key-%d old", i)))
	}
	b := c.nodes["b"]
	before := held(b)
	c.plan(c.nodes["c"], change.Staged{Kind: change.SetWeight, Name: "b", Number: 3})
	c.arrived()
	require.Greater(t, held(b), before)
	for i := range 100 {
		require.Equal(t, "$3\r\nold\r\n", clients.run(fmt.Sprintf("get key-%d", i)))
		require.Equal(t, "+OK\r\n", clients.run(fmt.Sprintf("set key-%d new", i)))
		require.Equal(t, "$3\r\nnew\r\n", clients.run(fmt.Sprintf("get key-%d", i)))
	}
}

// clients are connected with all nodes, and know the ring.
type clients struct {
	c    *testCluster
	each map[uint16]*client
}

func (c *testCluster) dialAll() *clients {
	all := &clients{c, map[uint16]*client{}}
	for _, n := range c.nodes {
		all.each[n.self().ID] = c.dial(n)
	}
	return all
}

// run executes a command at the home of its slot, and tries again what had no effect.
func (cs *clients) run(words string) string {
	cs.c.t.Helper()
	var r protocol.Result
	cs.c.eventually(func() bool {
		d := cs.c.nodes["a"].Document()
		cl := cs.each[d.Slots[ring.SlotOf([]byte(strings.Fields(words)[1]))].Replicas[0]]
		cl.epoch = d.Version
		r = cl.do(words)
		return r.Status != protocol.StatusNotDone
	})
	require.Equal(cs.c.t, protocol.StatusDone, r.Status, "%+v", r)
	return string(r.Reply)
}

// held counts the slots that a node holds.
func held(n *Node) (count int) {
	id := n.self().ID
	for slot := range uint16(ring.Slots) {
		if slices.Contains(n.Document().Slots[slot].Replicas, id) {
			count++
		}
	}
	return count
}
