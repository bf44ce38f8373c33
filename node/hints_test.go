package node

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/hint"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// noting lets a node note what others miss, and compare nothing for as long as a test runs.
func noting(o *Options) { o.RepairInterval = 24 * time.Hour }

// noted adds up what the nodes that run have noted of another one.
func (c *testCluster) noted(of string) (sum hint.Counts) {
	for _, n := range c.nodes {
		counts := n.Hints()[of]
		sum.Keys, sum.Bytes, sum.Marks = sum.Keys+counts.Keys, sum.Bytes+counts.Bytes, sum.Marks+counts.Marks
	}
	return sum
}

// leave stops a node, and waits until the others know.
func (c *testCluster) leave(name string) {
	c.t.Helper()
	c.stop(name)
	c.eventually(func() bool {
		for _, n := range c.nodes {
			for _, p := range n.peers.All() {
				if p.Name() == name && p.Alive() {
					return false
				}
			}
		}
		return true
	})
}

// missSome lets a node that has left miss writes of all kinds, of slots that are led by one node: what is
// noted by one that has lost the slot since is left to comparing.
func (c *testCluster) missSome(keys int) {
	c.t.Helper()
	for i := range keys {
		switch key := fmt.Sprint("key-", i); i % 3 {
		case 0:
			require.Equal(c.t, ":1\r\n", c.run("b", "del "+key))
		case 1:
			c.set("b", key, "new")
		}
		c.set("b", fmt.Sprint("other-", i), "new")
	}
}

func newNoting(t *testing.T, keys int, change func(*Options)) *testCluster {
	t.Helper()
	c := newFormed(t, 3, change)
	for i := range keys {
		c.set("a", fmt.Sprint("key-", i), "old")
	}
	c.eventually(c.converged)
	require.Zero(t, c.noted("a"))
	require.Zero(t, c.noted("b"))
	require.Zero(t, c.noted("c"))
	return c
}

// TestAReplicaIsCaughtUpByHints alone: nothing is compared.
func TestAReplicaIsCaughtUpByHints(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	change := func(o *Options) { d.use(o); noting(o) }
	const keys = 90
	c := newNoting(t, keys, change)
	c.leave("c")
	c.missSome(keys)
	c.eventually(func() bool { return c.noted("c").Keys >= keys+2*keys/3 })
	c.start("c", change)
	c.eventually(c.converged)
	c.eventually(func() bool { return c.noted("c") == hint.Counts{} })
	require.EqualValues(t, keys*2-keys/3, c.live("c"))
	for _, n := range c.nodes {
		require.Zero(t, n.comparedWith())
	}
	c.eventually(func() bool { // what was deleted is purged, now that all hold that
		for _, n := range c.nodes {
			if totals, err := n.engine.Totals(); err != nil || totals.Tombstones > 0 {
				return false
			}
		}
		return true
	})
}

// TestHintsSurviveWhoNotedThem, though it does not lead the slots any more when it is back.
func TestHintsSurviveWhoNotedThem(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	dir := t.TempDir()
	change := func(o *Options) { d.use(o); noting(o); o.HintDir = filepath.Join(dir, o.Name) }
	const keys = 60
	c := newNoting(t, keys, change)
	c.leave("c")
	for i := range keys {
		c.set("a", fmt.Sprint("key-", i), "new")
	}
	c.eventually(func() bool { return c.nodes["a"].Hints()["c"].Keys == keys })
	c.stop("a")
	require.FileExists(t, filepath.Join(dir, "a", "c.hints"))
	c.start("a", change)
	c.connected()
	require.Equal(t, keys, c.nodes["a"].Hints()["c"].Keys)
	c.start("c", change)
	c.eventually(c.converged)
	c.eventually(func() bool { return c.noted("c") == hint.Counts{} })
	for i := range keys {
		key := fmt.Sprint("key-", i)
		require.Equal(t, "new", string(c.held("c", ring.SlotOf([]byte(key)), key)))
	}
}

// TestHintsWaitForWhoNotedThem to be back: a proxy has not found it yet when the replica is there again, and
// until then it lets others stand in for it.
func TestHintsWaitForWhoNotedThem(t *testing.T) {
	d := newDisks("a", "b", "c")
	dir := t.TempDir()
	change := func(o *Options) { d.use(o); noting(o); o.HintDir = filepath.Join(dir, o.Name) }
	c := newNoting(t, 0, change)
	c.leave("c")
	const keys = 60
	var commands []string
	for i := range keys {
		commands = append(commands, fmt.Sprint("set key-", i, " v"))
	}
	c.all("a", commands...) // as one proxy, which finds it again
	c.eventually(func() bool { return c.nodes["a"].Hints()["c"].Keys == keys })
	c.stop("a")
	c.dial(c.nodes["b"]) // there are two proxies, it says
	c.dial(c.nodes["b"])
	c.start("a", change)
	c.connected()
	c.start("c", change)
	c.connected()
	c.nodes["a"].repairs.Soon()
	c.dial(c.nodes["a"])
	c.eventually(c.converged)
	c.eventually(func() bool { return c.noted("c") == hint.Counts{} })
	require.Zero(t, c.missing("c", keys))
}

// TestTooManyHintsBecomeMarks of slots, which are compared when the replica is back.
func TestTooManyHintsBecomeMarks(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	change := func(o *Options) { d.use(o); noting(o); o.HintLimit = 1000 }
	const keys = 90
	c := newNoting(t, keys, change)
	c.leave("c")
	c.missSome(keys)
	c.eventually(func() bool { return c.noted("c").Marks >= keys })
	require.LessOrEqual(t, c.noted("c").Bytes, int64(2*1000))
	c.start("c", change)
	c.eventually(c.converged)
	c.eventually(func() bool { return c.noted("c") == hint.Counts{} })
	require.NotZero(t, c.nodes["b"].State().RepairListed, "the marked slots were compared")
	for _, n := range c.nodes {
		require.Zero(t, n.comparedWith(), "and not all")
	}
}

// TestAClearThatAReplicaMissedIsNoted as a mark of the slot.
func TestAClearThatAReplicaMissedIsNoted(t *testing.T) {
	c := newFormed(t, 3, noting)
	c.leave("c")
	a := c.nodes["a"]
	away, _ := c.initial.Cluster("test", 3).ByName("c")
	replicaNode{a}.Missed([]register.Missed{{Slot: 7, Member: away.ID}, {Slot: 8, Member: away.ID, Key: []byte("k")},
		{Slot: 8, Member: a.self().ID, Key: []byte("not of itself")}, {Slot: 8, Member: away.ID + 1, Key: []byte("not of a stranger")}})
	counts := c.noted("c")
	require.Equal(t, 1, counts.Keys)
	require.Equal(t, 1, counts.Marks)
}

// TestDamagedHintsAreSetAside, and the node starts.
func TestDamagedHintsAreSetAside(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	dir := t.TempDir()
	change := func(o *Options) { d.use(o); noting(o); o.HintDir = filepath.Join(dir, o.Name) }
	const keys = 30
	c := newNoting(t, keys, change)
	c.leave("c")
	c.missSome(keys)
	c.stop("b")
	file := filepath.Join(dir, "b", "c.hints")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(file, text, 0o600))
	c.start("b", change)
	c.connected()
	require.FileExists(t, file+".damaged")
	require.True(t, c.logs.contains("set aside"))
	require.Equal(t, ring.Slots, c.nodes["b"].Hints()["c"].Marks)
	c.start("c", change)
	c.connected()
	c.eventually(func() bool { return c.noted("c") == hint.Counts{} })
	require.NotZero(t, c.nodes["b"].State().RepairListed, "what b is responsible for was compared")
}
