package node

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

func TestThreeNodesForm(t *testing.T) {
	c := newFormed(t, 3, nil)
	first := c.nodes["a"].replicas.View().Cluster
	require.NoError(t, first.Validate())
	for _, n := range c.nodes {
		require.NoError(t, n.Ready(t.Context()))
		require.Equal(t, first.Digest(), n.replicas.View().Cluster.Digest(), "all have the same ring")
		me, _ := first.ByName(n.opt.Name)
		require.Equal(t, n.self().Generation, me.Generation)
	}
	cl := c.dial(c.nodes["b"])
	require.Equal(t, "+OK\r\n", string(cl.do("set k v").Reply))
	other := c.dial(c.nodes["c"])
	c.eventually(func() bool { // who has just formed may take others for strangers for a moment, and refuses
		return string(other.do("get k").Reply) == "$1\r\nv\r\n"
	})
}

func TestNobodyFormsWithoutAll(t *testing.T) {
	c := newTestCluster(t, 3)
	a, b := c.start("a", nil), c.start("b", nil)
	c.eventually(func() bool { return a.peers.All()[0].Up() && b.peers.All()[0].Up() })
	require.ErrorContains(t, a.Ready(t.Context()), "waits for c")
	require.Equal(t, admin.Forming, a.Self().State)
	cl := c.dial(a)
	require.EqualValues(t, register.NotVoting, cl.do("set k v").Reason)
	_, err := cl.caller.Call(t.Context(), protocol.MethodScan, protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: 1}))
	require.ErrorContains(t, err, "does not vote: waits for c")
	_, err = a.Locate(t.Context(), 0, []byte("k"))
	require.ErrorContains(t, err, "no ring yet: waits for c")
	c.start("c", nil)
	c.connected()
	require.Equal(t, "+OK\r\n", string(cl.do("set k v").Reply))
}

func TestNodesStartInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}} {
		c := newTestCluster(t, 3)
		for _, name := range order[:2] {
			c.start(name, nil)
		}
		early := c.nodes[order[0]]
		waits := early.peers.Of(c.nodes[order[1]].self().ID)
		c.eventually(func() bool { return waits.Up() }) // they have met
		former := early.self().Generation
		c.stop(order[0])
		early = c.start(order[0], nil) // another generation before the cluster has formed
		c.start(order[2], nil)
		c.connected()
		for _, n := range c.nodes {
			me, _ := n.replicas.View().Cluster.ByName(early.opt.Name)
			require.Equal(t, early.self().Generation, me.Generation, order)
			require.NotEqual(t, former, me.Generation)
		}
	}
}

// TestWhatAnswersAtAPeersAddressIsJudged: a node dials an address, and does not know who
// answers there.
func TestWhatAnswersAtAPeersAddressIsJudged(t *testing.T) {
	initial := ring.Initial{{Name: "a", Peer: "127.0.0.1:1"}, {Name: "b", Peer: "127.0.0.1:2"}}
	cluster := initial.Cluster("test", 2)
	n := &Node{opt: Options{Name: "a", ClusterName: "test", Replicas: 2, Initial: initial}}
	var err error
	n.members, err = newMembership(n)
	require.NoError(t, err)
	p := peer.New(peer.Config{Member: cluster.Members[1], Judge: n.members.Judge, Mono: n.mono, Handler: &link{}})
	for want, change := range map[string]func(*wire.Hello, *protocol.Properties){
		"":                        func(*wire.Hello, *protocol.Properties) {},
		"is a proxy, not a node":  func(h *wire.Hello, _ *protocol.Properties) { h.Role = wire.RoleProxy },
		"does not say who it is":  func(_ *wire.Hello, p *protocol.Properties) { p.Member = nil },
		"says that it is node z":  func(_ *wire.Hello, p *protocol.Properties) { p.Member = &ring.Member{ID: 2, Name: "z"} },
		"has another number here": func(_ *wire.Hello, p *protocol.Properties) { p.Member = &ring.Member{ID: 3, Name: "b"} },
		"but z answers there":     func(h *wire.Hello, _ *protocol.Properties) { h.Name = "z" },
	} {
		h := wire.Hello{Role: wire.RoleNode, Name: "b", Cluster: "test"}
		props := protocol.Properties{Replicas: 2, Member: &cluster.Members[1]}
		change(&h, &props)
		if err := p.Check(props.Encode(h)); want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

func TestAnotherConfigurationIsRefused(t *testing.T) {
	other := func(in ring.Initial) ring.Initial {
		return append(slices.Clone(in[:2]), ring.InitialMember{Name: "z", Peer: "127.0.0.1:1"})
	}
	for name, test := range map[string]struct {
		change func(*Options)
		want   []string // in what both nodes say
	}{
		"initial cluster": {func(o *Options) { o.Initial = other(o.Initial) }, []string{"--initial-cluster of", "c is only", "z is only"}},
		"cluster name":    {func(o *Options) { o.ClusterName = "prod" }, []string{`"prod"`, `"test"`, "--cluster-name"}},
		"replicas":        {func(o *Options) { o.Replicas = 2 }, []string{"--replicas is"}},
		"secret":          {func(o *Options) { o.Secret = []byte("another long secret") }, []string{"secret"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCluster(t, 3)
			a, b := c.start("a", nil), c.start("b", test.change)
			for _, want := range test.want {
				for _, n := range []*Node{a, b} {
					c.eventually(func() bool { return contains(n.Ready(t.Context()), want) })
				}
			}
			require.Nil(t, a.replicas.View())
		})
	}
	t.Run("another node answers", func(t *testing.T) {
		c := newTestCluster(t, 3)
		c.initial[1].Peer, c.initial[2].Peer = c.initial[2].Peer, c.initial[1].Peer // b and c mixed up
		a := c.start("a", nil)
		c.start("b", nil) // on its listener, which a takes for c's
		c.eventually(func() bool {
			return contains(a.Ready(t.Context()), "node c was expected at") && contains(a.Ready(t.Context()), "but b answers there")
		})
	})
}

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func TestAProxyWithAnotherConfigurationIsRefused(t *testing.T) {
	c := newTestCluster(t, 1)
	n := c.start("a", nil)
	for want, hello := range map[string]wire.Hello{
		"--cluster-name":    protocol.Properties{}.Encode(wire.Hello{Role: wire.RoleProxy, Cluster: "prod"}),
		"--initial-cluster": protocol.Properties{Initial: "x=127.0.0.1:1"}.Encode(wire.Hello{Role: wire.RoleProxy, Cluster: "test"}),
		"does not say who":  protocol.Properties{Replicas: 1}.Encode(wire.Hello{Role: wire.RoleNode, Name: "x", Cluster: "test"}),
		"not in the initial cluster": protocol.Properties{Replicas: 1, Member: &ring.Member{Name: "x", ID: 5}}.
			Encode(wire.Hello{Role: wire.RoleNode, Name: "x", Cluster: "test"}),
		"another number here": protocol.Properties{Replicas: 1, Member: &ring.Member{Name: "a", ID: 7}}.
			Encode(wire.Hello{Role: wire.RoleNode, Name: "a", Cluster: "test"}),
		"replicas:": {Role: wire.RoleProxy, Cluster: "test", Properties: map[string]string{"replicas": "x"}},
	} {
		cl := c.connect(n, hello, nil)
		c.eventually(func() bool { return contains(cl.link.Err(), want) })
		require.ErrorIs(t, cl.link.Err(), wire.ErrRefused)
		require.Empty(t, cl.up)
	}
	cl := c.connect(n, c.proxyHello(), []byte("a secret that the node has not"))
	c.eventually(func() bool { return cl.link.Err() != nil })
	require.ErrorIs(t, cl.link.Err(), wire.ErrSecret)
}

func TestOnlyNodesFormACluster(t *testing.T) {
	c := newTestCluster(t, 3)
	proxy := c.dial(c.start("b", nil))
	for _, method := range []protocol.Method{protocol.MethodPropose, protocol.MethodCommit} {
		_, err := proxy.caller.Call(t.Context(), method, []byte("{}"))
		require.ErrorContains(t, err, "only nodes form a cluster")
	}
}

func TestARestartedMemoryNodeNeverVotes(t *testing.T) {
	c := newFormed(t, 3, nil)
	a := c.dial(c.nodes["a"])
	require.Equal(t, "+OK\r\n", string(a.do("set k v").Reply))

	former := c.nodes["c"].members.Hello()
	c.stop("c")
	again := c.start("c", nil)
	c.eventually(func() bool { return again.Self().State == admin.LostState })
	require.ErrorContains(t, again.Ready(t.Context()), "restarted without its state")
	c.eventually(func() bool { return c.logs.contains("quoll ring reform") })
	select {
	case <-again.Formed():
		t.Fatal("it has formed")
	default:
	}
	c.eventually(func() bool {
		return c.nodes["a"].Self().State == admin.Voting && c.statusOf("a", "c").State == admin.LostState
	})
	require.Equal(t, "+OK\r\n", string(a.do("set k w").Reply), "the two others go on")

	proxy := c.dial(again)
	for _, kind := range []protocol.OpKind{protocol.ReadVersion, protocol.ReadValue, protocol.Execute} {
		require.EqualValues(t, register.NotVoting, proxy.one(op(kind, "get k")).Reason)
	}
	_, err := proxy.caller.Call(t.Context(), protocol.MethodStats, protocol.AppendVersion(nil, 1))
	require.ErrorContains(t, err, "does not vote")

	voter := c.dialAs(again, c.nodes["a"])
	voter.replicate(register.Message{Kind: register.Prepare, Slot: 1, Epoch: 1, Ballot: record.Ballot{Counter: 9}})
	c.eventually(func() bool { return again.Metrics.RefusedNoVote.Value() > 3 })
	require.Empty(t, voter.replies)

	c.stop("b")
	c.eventually(func() bool { return !c.nodes["a"].peers.Of(2).Connected() })
	r := a.do("set k x")
	require.Equal(t, []any{protocol.StatusNotDone, register.NoQuorum}, []any{r.Status, r.Reason}, "a and the restarted c are no majority")

	t.Run("nor is its former life impersonated", func(t *testing.T) {
		cl := c.connect(c.nodes["a"], again.members.Hello(), nil)
		received(t, cl.up)
		refused := c.nodes["a"].Metrics.RefusedNoVote.Value()
		cl.replicate(register.Message{Kind: register.Prepare, Slot: 1, Epoch: 1, Ballot: record.Ballot{Counter: 9}})
		c.eventually(func() bool { return c.nodes["a"].Metrics.RefusedNoVote.Value() > refused })
		require.Empty(t, cl.replies, "a gives its vote to nobody who is not of the ring")
		require.Equal(t, "c", former.Name)
	})
}

// TestEveryNodeRestarted: no ring is left and no state either; a new cluster forms.
func TestEveryNodeRestarted(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, nil)
	old := c.nodes["a"].replicas.View().Cluster.Digest()
	for _, name := range []string{"a", "b", "c"} {
		c.stop(name)
	}
	for _, name := range []string{"a", "b", "c"} {
		c.start(name, nil)
	}
	c.connected()
	require.NotEqual(t, old, c.nodes["a"].replicas.View().Cluster.Digest())
}

func TestStartRefusesWhatCannotWork(t *testing.T) {
	c := newTestCluster(t, 1)
	opt := c.options("a", nil)
	defer opt.Listener.Close()
	opt.Name = "x"
	_, err := Start(opt)
	require.ErrorContains(t, err, "node x is not in the initial cluster a=127")

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	opt.Name, opt.GossipListen = "a", taken.Addr().String()
	_, err = Start(opt)
	require.ErrorContains(t, err, "in use")
}

// statusOf returns what one node says of another.
func (c *testCluster) statusOf(asked, of string) admin.NodeStatus {
	status, err := c.nodes[asked].Status(c.t.Context())
	require.NoError(c.t, err)
	for _, n := range status.Nodes {
		if n.Name == of {
			return n
		}
	}
	c.t.Fatalf("%s does not know %s", asked, of)
	panic("unreachable")
}
