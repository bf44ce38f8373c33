package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
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
			if d := n.Document(); d == nil || d.Plan != nil || d.Version != c.nodes["a"].Document().Version {
				return false
			}
		}
		return true
	}, 18*patience, 10*time.Millisecond)
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

// TestAPlanOutlivesItsLeader: another one goes on with it, and the first one, when it is back, with what it has to collect.
func TestAPlanOutlivesItsLeader(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves thousands of slots")
	}
	d := newDisks("a", "b", "c", "d")
	l := newLogs(t, d)
	use := func(o *Options) { soon(o); d.use(o); l.use(o) }
	c := newFormed(t, 4, use)
	first := c.decides()
	name := first.opt.Name
	c.plan(first, change.Staged{Kind: change.SetWeight, Name: name, Number: 3})
	c.eventually(func() bool { return len(first.Document().Joint) > 0 })
	c.stop(name)
	second := c.decides()
	require.NoError(t, second.Propose(t.Context(), rate(1<<30)))
	require.NotNil(t, second.Document().Plan, "it went on without who collects")
	again := c.start(name, use)
	c.arrived()
	require.EqualValues(t, 1<<30, again.Document().Rate)
	require.Greater(t, held(again), ring.Slots*3/4)
}

// TestMembersComeBackWithoutTheirState: each takes its own place again, one after the other, and nothing is lost.
func TestMembersComeBackWithoutTheirState(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves all slots twice")
	}
	c := newFormed(t, 3, soon)
	c.set("a", "k", "v")
	for _, name := range []string{"a", "b"} {
		c.stop(name)
		again := c.start(name, soon)
		c.eventually(func() bool { return again.Self().State == admin.LostState })
		self, was := again.self(), change.Life{}
		c.eventually(func() bool {
			var found bool
			was, found = again.Document().ByName(name)
			return found
		})
		require.ErrorIs(t, again.Propose(t.Context(), change.Entry{Rejoin: &change.Rejoin{Name: name, Generation: 5, Was: was.Generation, Peer: self.Peer}}), errNotItself)
		require.NoError(t, again.Propose(t.Context(), change.Entry{Rejoin: &change.Rejoin{Name: name, Generation: self.Generation, Was: was.Generation, Peer: self.Peer}}))
		c.arrived()
		c.connected()
		require.Equal(t, admin.Voting, again.Self().State)
		require.Equal(t, ring.Slots, held(again))
	}
	require.Equal(t, "$1\r\nv\r\n", c.dialAll().run("get k"))
	c.eventually(func() bool { // they vote in the group, too, instead of who they were
		s, err := c.decides().decisions.status()
		return err == nil && len(s.Voters) == 3 && !slices.ContainsFunc(s.Voters, func(id uint64) bool {
			return !slices.ContainsFunc(c.nodes["a"].Document().Members, func(l change.Life) bool { return l.Generation == id })
		})
	})
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
