package node

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/decide"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// soon lets a node's group decide in less time than it takes where links are long.
func soon(o *Options) {
	o.deciding = func(c *consensus.Config) { c.Tick, c.Retry = 5*time.Millisecond, 50*time.Millisecond }
}

func rate(bytes int64) change.Entry { return change.Entry{By: "ann", Rate: &change.Rate{Bytes: bytes}} }

// agreed waits until all nodes that run know that something is so of the ring.
func (c *testCluster) agreed(is func(d *change.Document) bool) {
	c.t.Helper()
	c.eventually(func() bool {
		for _, n := range c.nodes {
			if d := n.Document(); d == nil || !is(d) {
				return false
			}
		}
		return true
	})
}

// decides waits for the node that leads the group.
func (c *testCluster) decides() (leader *Node) {
	c.t.Helper()
	c.eventually(func() bool {
		for _, n := range c.nodes {
			if s, err := n.decisions.status(); err == nil && s.Leading {
				leader = n
				return true
			}
		}
		return false
	})
	return leader
}

func TestAChangeReachesAllNodes(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, soon)
	for i, name := range []string{"a", "b", "c"} {
		n := c.nodes[name]
		require.NoError(t, n.Propose(t.Context(), rate(int64(i+1))))
		require.EqualValues(t, i+1, n.Document().Rate, "whoever proposed knows it")
		c.agreed(func(d *change.Document) bool { return d.Rate == int64(i+1) })
	}
	err := c.nodes["a"].Propose(t.Context(), rate(3))
	require.ErrorIs(t, err, change.ErrNothing)
	require.ErrorIs(t, err, consensus.ErrRefused)
	event := c.nodes["b"].Document().History[0]
	require.Equal(t, "ann", event.By)
	require.InDelta(t, time.Now().UnixMilli(), event.At, float64(patience.Milliseconds()))

	c.stop(c.decides().opt.Name)
	left := c.decides()
	require.NoError(t, left.Propose(t.Context(), rate(7)))
	c.agreed(func(d *change.Document) bool { return d.Rate == 7 })
}

// TestCommandsGoOnWithoutTheGroup: only the ring stands still.
func TestCommandsGoOnWithoutTheGroup(t *testing.T) {
	c := newFormed(t, 3, soon)
	require.NoError(t, c.nodes["a"].Propose(t.Context(), rate(1)))
	c.agreed(func(d *change.Document) bool { return d.Rate == 1 })
	for _, n := range c.nodes {
		n.decisions.close()
	}
	c.set("a", "k", "v")
	c.requireValue("b", "k", "v")
	err := c.nodes["c"].Propose(t.Context(), rate(2))
	require.ErrorIs(t, err, consensus.ErrClosed)
	require.EqualValues(t, 1, c.nodes["c"].Document().Rate)
}

// logs are where nodes keep how they vote, by their names.
type logs map[string]*testLog

type testLog struct {
	path       string
	generation uint64
	begun      bool
	wrong      error
}

func (l *testLog) Generation() uint64         { return l.generation }
func (l *testLog) Log() (string, bool, error) { return l.path, l.begun, l.wrong }
func (l *testLog) LogBegun() error            { l.begun = true; return nil }

func newLogs(t *testing.T, d disks) logs {
	all := logs{}
	for name, disk := range d {
		all[name] = &testLog{path: t.TempDir(), generation: disk.generation}
	}
	return all
}

func (l logs) use(o *Options) {
	o.OpenLog = func() (consensus.Storage, error) { return decide.OpenLog(l[o.Name]) }
}

// TestADurableNodeVotesAgain after a restart, and all of them after one at the same time.
func TestADurableNodeVotesAgain(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	l := newLogs(t, d)
	use := func(o *Options) { soon(o); d.use(o); l.use(o) }
	c := newFormed(t, 3, use)
	require.NoError(t, c.nodes["a"].Propose(t.Context(), rate(1)))
	c.stop("b")
	require.NoError(t, c.nodes["a"].Propose(t.Context(), rate(2)))
	c.start("b", use)
	c.stop("c") // so b's vote is needed
	require.NoError(t, c.nodes["a"].Propose(t.Context(), rate(3)))
	c.agreed(func(d *change.Document) bool { return d.Rate == 3 })
	for _, name := range []string{"a", "b"} {
		c.stop(name)
	}
	for _, name := range []string{"a", "b", "c"} {
		c.start(name, use)
	}
	c.agreed(func(d *change.Document) bool { return d.Rate == 3 })
	s, err := c.decides().decisions.status()
	require.NoError(t, err)
	require.Equal(t, []uint64{1000, 1001, 1002}, slices.Sorted(slices.Values(s.Voters)))
}

// TestANodeWithoutItsLog does not vote, for it would forget what it has voted. It serves, and has others propose for it.
func TestANodeWithoutItsLog(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(o *Options){
		"lost": func(o *Options) {
			o.OpenLog = func() (consensus.Storage, error) { return nil, fmt.Errorf("a: %w", consensus.ErrLost) }
		},
		"nowhere": func(o *Options) { o.OpenLog = nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisks("a", "b", "c")
			l := newLogs(t, d)
			c := newFormed(t, 3, func(o *Options) {
				soon(o)
				d.use(o)
				l.use(o)
				if o.Name == "a" {
					lose(o)
				}
			})
			a := c.nodes["a"]
			c.eventually(func() bool { return a.decisions.failed.Load() != nil })
			require.Equal(t, name == "lost", c.logs.contains("takes no part in deciding changes of the ring"))
			_, err := a.decisions.status()
			require.Error(t, err)
			require.NotErrorIs(t, err, consensus.ErrClosed)
			require.NoError(t, c.nodes["b"].Propose(t.Context(), rate(1)))
			require.NoError(t, a.Propose(t.Context(), rate(2)))
			require.EqualValues(t, 2, a.Document().Rate)
			require.ErrorIs(t, a.Propose(t.Context(), rate(2)), change.ErrNothing)
			c.set("a", "k", "v")
		})
	}
}

// TestALogThatCannotBeWrittenNow is tried again.
func TestALogThatCannotBeWrittenNow(t *testing.T) {
	d := newDisks("a")
	l := newLogs(t, d)
	l["a"].path = filepath.Join(l["a"].path, "not there")
	c := newFormed(t, 1, func(o *Options) { soon(o); d.use(o); l.use(o) })
	c.eventually(func() bool { return c.nodes["a"].decisions.attempts.Load() == 1 })
	_, err := c.nodes["a"].decisions.status()
	require.ErrorIs(t, err, consensus.ErrClosed)
	require.Nil(t, c.nodes["a"].decisions.failed.Load())
	c.set("a", "k", "v")
}

// ask has a node propose a change for who is connected with it.
func (cl *client) ask(e change.Entry) error {
	cl.t.Helper()
	b, err := e.Encode()
	require.NoError(cl.t, err)
	reply, err := cl.caller.Call(cl.t.Context(), protocol.MethodChange, b)
	if err != nil {
		return err
	}
	_, err = decide.Answered(reply)
	return err
}

// TestANodeThatWaitsIsKnown: it has asked to join, through any node, holds nothing and does not vote.
func TestANodeThatWaitsIsKnown(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, soon)
	joins := ring.Member{Name: "d", Peer: "127.0.0.1:9", Weight: 1, Generation: 77}
	hello := protocol.Properties{Member: &joins, Replicas: 3}.Encode(wire.Hello{Role: wire.RoleNode, Name: "d", Cluster: "test"})
	cl := c.connect(c.nodes["b"], hello, nil)
	select {
	case <-cl.up:
	case <-time.After(patience):
		t.Fatal(cl.link.Err())
	}
	require.NoError(t, cl.ask(change.Entry{By: "d", Join: &change.Join{Member: joins}}))
	c.agreed(func(d *change.Document) bool {
		l, known := d.ByName("d")
		return known && l.State == change.Waiting
	})
	leader := c.decides()
	require.Len(t, leader.decisions.candidates(), 3)
	require.False(t, leader.decisions.isAlive(4))
	require.NoError(t, leader.Propose(t.Context(), change.Entry{Forget: &change.Forget{Name: "d"}}))
	c.agreed(func(d *change.Document) bool { return len(d.Members) == 3 })
}

// TestWhatANodeProposesForOthersIsChecked: what it says of itself others believe.
func TestWhatANodeProposesForOthersIsChecked(t *testing.T) {
	c := newFormed(t, 3, soon)
	leader := c.decides()
	var other *Node
	for _, n := range c.nodes {
		if n != leader {
			other = n
		}
	}
	as := c.dialAs(leader, other)
	require.NoError(t, as.ask(rate(5)))
	c.agreed(func(d *change.Document) bool { return d.Rate == 5 })
	slots := []change.SlotEpoch{{Slot: 1, Epoch: 1}}
	for name, e := range map[string]change.Entry{
		"another joins":          {Join: &change.Join{Member: ring.Member{Name: "d", Peer: "127.0.0.1:9", Weight: 1, Generation: 77}}},
		"another life joins":     {Join: &change.Join{Member: ring.Member{Name: other.opt.Name, Peer: "127.0.0.1:9", Weight: 1, Generation: 77}}},
		"another comes back":     {Rejoin: &change.Rejoin{Name: leader.opt.Name, Generation: 77, Was: leader.self().Generation, Peer: "127.0.0.1:9"}},
		"another's slots":        {Complete: &change.Complete{Member: leader.self().ID, Slots: slots}},
		"gone, though it is not": {Accept: &change.AcceptLoss{Cluster: "test", Gone: []uint16{other.self().ID}}},
	} {
		err := as.ask(e)
		require.ErrorIs(t, err, change.ErrImpossible, name)
		require.True(t, err.Error() == errNotItself.Error() || err.Error() == errStillThere.Error(), "%v", err)
	}
	require.ErrorIs(t, as.ask(change.Entry{Complete: &change.Complete{Member: other.self().ID, Slots: slots}}), change.ErrStale)
	reply, err := as.caller.Call(t.Context(), protocol.MethodChange, []byte(`{"merge":{}}`))
	require.NoError(t, err)
	_, err = decide.Answered(reply)
	require.ErrorIs(t, err, change.ErrEntry)
	require.ErrorContains(t, c.dial(leader).ask(rate(6)), "only nodes")

	// A message of the group counts only from the one that it says it is of.
	forged := append([]byte{3}, wire.AppendUint64(wire.AppendUint64(nil, 99), leader.self().Generation)...)
	require.NoError(t, as.link.SendFrames(wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameConsensus), forged...), 0)))
	require.NoError(t, as.ask(rate(7)), "nor does it harm")
}

// TestWhoDoesNotVoteProposes: of four nodes three vote.
func TestWhoDoesNotVoteProposes(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 4, soon)
	s, err := c.decides().decisions.status()
	require.NoError(t, err)
	require.Len(t, s.Voters, 3)
	for _, n := range c.nodes {
		if slices.Contains(s.Voters, n.self().Generation) {
			continue
		}
		require.NoError(t, n.Propose(t.Context(), rate(4)))
		require.NotEmpty(t, n.hello().Properties[protocol.PropertyVoters])
		require.EqualValues(t, 4, n.Document().Rate)
		c.agreed(func(d *change.Document) bool { return d.Rate == 4 })
	}
}

// TestCloseWhileProposing: what is being proposed is told so.
func TestCloseWhileProposing(t *testing.T) {
	c := newFormed(t, 3, nil) // which elects nobody for seconds
	told := make(chan error)
	n := c.nodes["a"]
	c.eventually(func() bool { return n.decisions.group.Load() != nil })
	go func() { told <- n.Propose(t.Context(), rate(1)) }()
	time.Sleep(10 * time.Millisecond) // or not yet: either way it is told
	for name := range c.nodes {
		c.stop(name)
	}
	err := received(t, told)
	require.Error(t, err)
	require.True(t, errors.Is(err, consensus.ErrClosed) || errors.Is(err, consensus.ErrUnknown), "%v", err)
}

// TestWhoBeginsTheGroup: the members of a ring as it formed, all with the same; nobody who comes later.
func TestWhoBeginsTheGroup(t *testing.T) {
	cluster := ring.Cluster{Name: "test", Epoch: 3, Replicas: 3}
	for i := range uint16(6) {
		cluster.Members = append(cluster.Members, ring.Member{ID: i + 1, Name: string(rune('a' + i)), Peer: fmt.Sprintf("h:%d", i+1), Weight: 1, Generation: uint64(100 + i)})
	}
	doc, err := change.FromCluster(cluster)
	require.NoError(t, err)
	first := initialGroup(&doc, 100)
	require.Equal(t, []uint64{100, 101, 102, 103, 104}, first.Voters)
	require.Equal(t, doc.Encode(), first.Snapshot)
	require.Equal(t, first, initialGroup(&doc, 104))
	require.Nil(t, initialGroup(&doc, 105), "it does not vote")
	require.Nil(t, initialGroup(&doc, 77), "another life of a member, say")
	later, err := change.Apply(doc, rate(1), 0)
	require.NoError(t, err)
	require.Nil(t, initialGroup(&later, 100), "the group has begun without it, or has lost its log")
}
