package node

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

// joining starts a node that asks the others to join.
func (c *testCluster) joining(name string, change func(*Options)) *Node {
	c.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(c.t, err)
	c.listeners[name] = listener
	return c.start(name, func(opt *Options) {
		opt.Initial, opt.Peer = nil, listener.Addr().String()
		for _, m := range c.initial {
			opt.Join = append(opt.Join, m.Peer)
		}
		if change != nil {
			change(opt)
		}
	})
}

// awaitRing waits until every node that runs knows a ring of which this is true.
func (c *testCluster) awaitRing(is func(change.Document) bool) {
	c.t.Helper()
	c.eventually(func() bool {
		for _, n := range c.nodes {
			if doc := n.Document(); doc == nil || !is(*doc) {
				return false
			}
		}
		return true
	})
}

func inState(name string, state change.State) func(change.Document) bool {
	return func(doc change.Document) bool {
		l, _ := doc.ByName(name)
		return l.State == state
	}
}

// TestANodeJoins: it asks, waits, is planned, and holds its share; then it leaves, and holds nothing.
func TestANodeJoins(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, nil)
	c.joining("d", nil)
	c.awaitRing(inState("d", change.Waiting))
	c.carryOut("a", "join d")
	require.Equal(t, change.Active, stateOf(*c.nodes["d"].Document(), "d"))
	c.carryOut("d", "leave d")
	require.Zero(t, stateOf(*c.nodes["a"].Document(), "d"))
	c.eventually(func() bool { state, _ := c.nodes["d"].state(); return state == admin.Left })
}

// carryOut has changes planned and committed, and waits until they are over everywhere.
func (c *testCluster) carryOut(name, words string) {
	c.t.Helper()
	changes, err := admin.ParseChanges(strings.Fields(words))
	require.NoError(c.t, err)
	ops := c.operate(name)
	plan, err := ops.StageRing(c.t.Context(), changes, admin.RingOption{})
	require.NoError(c.t, err)
	require.Empty(c.t, plan.Problem)
	status, err := ops.CommitRing(c.t.Context(), plan.ID, "", admin.RingOption{})
	require.NoError(c.t, err)
	c.awaitPlan(status.Version)
}

// awaitPlan waits until no plan is under way in any node's ring that is at least of this version. A short test sees only that it is carried out, and ends there.
func (c *testCluster) awaitPlan(version uint64) {
	c.t.Helper()
	if testing.Short() {
		c.awaitRing(func(doc change.Document) bool {
			moved, _ := doc.Arrived()
			return doc.Version > version && (moved > 0 || doc.Plan == nil)
		})
		c.t.SkipNow()
	}
	require.Eventually(c.t, func() bool {
		for _, n := range c.nodes {
			if doc := n.Document(); doc == nil || doc.Version < version || doc.Plan != nil {
				return false
			}
		}
		return true
	}, 5*time.Minute, 10*time.Millisecond)
}

func stateOf(doc change.Document, name string) change.State {
	l, _ := doc.ByName(name)
	return l.State
}

func lifeOf(n *Node) change.Life {
	l, _ := n.Document().LifeOf(n.opt.Name, n.self().Generation)
	return l
}

// TestANodeComesBackWithoutItsState: it takes its place again by itself, and in the end it is as it was. Then, and not before, another one may lose its own.
func TestANodeComesBackWithoutItsState(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, nil)
	first := c.nodes["b"].self()
	c.stop("b")
	c.start("b", nil)
	c.awaitRing(func(doc change.Document) bool {
		l, _ := doc.ByName("b")
		return l.Generation != first.Generation && doc.Version > 1
	})
	c.eventually(func() bool {
		err := c.nodes["b"].Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "still has to collect")
	})
	require.Positive(t, leftBy(c.nodes["b"].Document(), lifeOf(c.nodes["b"])), "so the next process of one on disk knows")
	c.awaitPlan(2)
	require.Zero(t, leftBy(c.nodes["b"].Document(), lifeOf(c.nodes["b"])))
	c.eventually(func() bool { return c.nodes["b"].Ready(t.Context()) == nil })
	require.NoError(t, c.nodes["b"].decisions.incomplete(c.nodes["b"].Document()))
	require.Equal(t, change.Active, stateOf(*c.nodes["b"].Document(), "b"))
	c.eventually(func() bool { state, _ := c.nodes["b"].state(); return state == admin.Voting })
}

// TestWhoDialsIsAsked: a node that was in the ring, and has lost all that it had, learns the ring from who expects it there, if nobody is where it was told to ask.
func TestWhoDialsIsAsked(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, nil)
	at := c.joining("d", nil).Address()
	c.awaitRing(inState("d", change.Waiting))
	c.stop("d")
	listener, err := net.Listen("tcp", at)
	require.NoError(t, err)
	c.listeners["d"] = listener
	d := c.start("d", func(opt *Options) { opt.Initial, opt.Peer, opt.Join = nil, at, []string{"127.0.0.1:1"} })
	c.awaitRing(func(doc change.Document) bool {
		l, known := doc.ByName("d")
		return known && l.Generation == d.self().Generation
	})
}

// TestANodeJoinsByItself, with AutoJoin.
func TestANodeJoinsByItself(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, nil)
	c.joining("d", func(opt *Options) { opt.AutoJoin = true })
	c.awaitPlan(4)
	require.Equal(t, change.Active, stateOf(*c.nodes["d"].Document(), "d"))
}

// TestWhoMayNotJoin: it is told why, and nothing has changed.
func TestWhoMayNotJoin(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, nil)
	const byMember, byGroup = "peer connection refused", "a node that wants to come to the ring was refused"
	for name, wrong := range map[string]struct {
		change func(*Options)
		why    string
		there  string // what a member logs
	}{
		"another cluster":    {func(opt *Options) { opt.ClusterName = "other" }, "this is cluster", byMember},
		"wrong secret":       {func(opt *Options) { opt.Secret = []byte("x") }, "secret", byMember},
		"nobody there":       {func(opt *Options) { opt.Join = []string{"127.0.0.1:1"} }, "connection refused", ""},
		"shorter values":     {func(opt *Options) { opt.MaxValue = 1 << 20 }, "--max-bulk is 67108864 bytes on", byMember},
		"longer collections": {func(opt *Options) { opt.MaxCollection = 1 << 30 }, "d cannot join: --max-collection is 67108864 bytes on", byMember},
		"a wrong clock": {func(opt *Options) { opt.SystemClock = func() int64 { return time.Now().Add(time.Hour).UnixMilli() } },
			"the clock of this machine is wrong by", ""},
		"a name that runs":    {func(opt *Options) { opt.Name = "b" }, "a member of that name exists: choose another name, or have it replaced: a node of that name is running, and has its state", ""},
		"the others' address": {func(opt *Options) { opt.Peer = c.initial[0].Peer }, "another member has that address", byGroup},
	} {
		t.Run(name, func(t *testing.T) {
			said := c.logs.count(wrong.there)
			n := c.joining("d", wrong.change)
			c.eventually(func() bool {
				why := n.comer.why.Load()
				return why != nil && strings.Contains((*why).Error(), wrong.why) && (wrong.there == "" || c.logs.count(wrong.there) > said)
			})
			c.stop("d")
			require.Equal(t, uint64(1), c.nodes["a"].Document().Version)
		})
	}
}

// TestANodeInMemoryDoesNotJoinOnesOnDisk: what is acknowledged would be lost with its memory. The other way round it may.
func TestANodeInMemoryDoesNotJoinOnesOnDisk(t *testing.T) {
	t.Parallel()
	disks := newDisks("a", "b", "c")
	c := newFormed(t, 3, disks.use)
	d := c.joining("d", nil)
	c.eventually(func() bool {
		return strings.Contains(d.comer.reason(), "keeps what it acknowledges on disk after a while, and d only in memory")
	})
	c.stop("d")
	require.Equal(t, uint64(1), c.nodes["a"].Document().Version)

	c = newFormed(t, 3, nil)
	c.joining("d", newDisks("d").use)
	c.awaitRing(inState("d", change.Waiting))
}

// TestACopyOfANodeIsRefused: two processes of one identity would vote for one.
func TestACopyOfANodeIsRefused(t *testing.T) {
	c := newFormed(t, 3, nil)
	b := c.nodes["b"].members.Hello()
	_, err := c.nodes["a"].accept(b)
	require.NoError(t, err)
	at := c.initial[1].Peer
	for name, differ := range map[string]func(*protocol.Properties){
		"elsewhere": func(p *protocol.Properties) {
			self := *p.Member
			self.Peer = "127.0.0.1:1"
			p.Member, at = &self, self.Peer
		},
		"by the same address": func(p *protocol.Properties) { p.Process++ },
	} {
		props, err := protocol.DecodeProperties(b)
		require.NoError(t, err)
		at = c.initial[1].Peer
		differ(&props)
		_, err = c.nodes["a"].accept(props.Encode(b))
		require.ErrorContains(t, err, "a process with the identity of node b runs at "+c.initial[1].Peer+" already, and this one, at "+at+", is another: is its data directory a copy?", name)
	}
}
