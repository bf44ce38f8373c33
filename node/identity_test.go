package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// disk is what is left of a node when its process has ended. It is the Identity of
// the next one.
type disk struct {
	engine     *memory.Engine
	generation uint64
	restored   string
	gone       error // what Present says, since before the node starts

	mu    sync.Mutex
	ring  *change.Document
	lost  string
	saves func(change.Document) error // called by SaveRing, nil for nothing
}

func newDisk(generation uint64) *disk { return &disk{engine: memory.New(), generation: generation} }

func (d *disk) Generation() uint64 { return d.generation }
func (d *disk) LostState() string  { return d.lost }
func (d *disk) Restored() string   { return d.restored }

func (d *disk) Present() error { return d.gone }

func (d *disk) Ring() *change.Document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ring
}

func (d *disk) SaveRing(doc change.Document) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saves != nil {
		if err := d.saves(doc); err != nil {
			return err
		}
	}
	d.ring = &doc
	return nil
}

// survivor is an engine whose content outlives Close.
type survivor struct{ engine.Engine }

func (survivor) Close() error { return nil }

// disks are those of the nodes of a cluster.
type disks map[string]*disk

// use lets a node work with its disk.
func (d disks) use(o *Options) {
	if disk := d[o.Name]; disk != nil {
		o.Engine, o.Identity = survivor{disk.engine}, disk
	}
}

func newDisks(names ...string) disks {
	d := disks{}
	for i, name := range names {
		d[name] = newDisk(uint64(1000 + i))
	}
	return d
}

func (c *testCluster) set(name, key, value string) {
	c.t.Helper()
	require.Equal(c.t, "+OK\r\n", c.run(name, "set "+key+" "+value))
}

func (c *testCluster) requireValue(name, key, value string) {
	c.t.Helper()
	require.Equal(c.t, fmt.Sprintf("$%d\r\n%s\r\n", len(value), value), c.run(name, "get "+key))
}

// run executes a command at a node, and tries again what had no effect, as a proxy does.
func (c *testCluster) run(name, words string) string {
	c.t.Helper()
	cl := c.dial(c.nodes[name])
	var r protocol.Result
	c.eventually(func() bool {
		if doc := c.nodes[name].Document(); doc != nil { // the ring may have been founded again
			cl.epoch = max(cl.epoch, doc.Refounded)
		}
		r = cl.do(words)
		return r.Status != protocol.StatusNotDone
	})
	require.Equal(c.t, protocol.StatusDone, r.Status, "%+v", r)
	return string(r.Reply)
}

func TestADurableNodeComesBack(t *testing.T) {
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, d.use)
	digest := c.nodes["a"].replicas.View().Cluster.Digest()
	c.set("a", "k", "v")
	c.stop("c")
	c.set("a", "k", "w") // which c misses
	c.start("c", d.use)
	c.connected() // the others know it
	require.NoError(t, c.nodes["c"].votes())
	require.Equal(t, digest, c.nodes["c"].replicas.View().Cluster.Digest())
	require.EqualValues(t, 1002, c.nodes["c"].self().Generation)

	c.stop("b")
	c.eventually(func() bool { return !c.nodes["c"].peers.Of(2).Connected() && !c.nodes["a"].peers.Of(2).Connected() })
	c.requireValue("c", "k", "w") // with the vote of a
	c.set("c", "k", "x")
	c.requireValue("a", "k", "x")
}

// TestAllDurableNodesComeBack: each by itself, with nobody's help.
func TestAllDurableNodesComeBack(t *testing.T) {
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, d.use)
	c.set("a", "k", "v")
	for _, name := range []string{"a", "b", "c"} {
		c.stop(name)
	}
	b := c.start("b", d.use)
	received(t, b.Formed()) // Start is enough
	require.NoError(t, b.votes())
	require.ErrorContains(t, b.Ready(t.Context()), "has found 1 of 3 nodes")
	require.EqualValues(t, register.NoQuorum, c.dial(b).do("get k").Reason)
	c.start("c", d.use)
	c.connected() // the coordinator is not there
	c.requireValue("b", "k", "v")
	c.set("c", "k", "w")
	c.start("a", d.use)
	c.connected()
	c.requireValue("a", "k", "w")
}

// TestTheRingIsSavedBeforeTheFirstVote: a node that has voted always knows for which ring.
func TestTheRingIsSavedBeforeTheFirstVote(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	c := newTestCluster(t, 3)
	started := make(chan struct{})
	for name, disk := range d {
		disk.saves = func(change.Document) error {
			received(t, started)
			assert.Nil(t, c.nodes[name].replicas.View(), name)
			return nil
		}
	}
	for _, m := range c.initial {
		c.start(m.Name, d.use)
	}
	close(started)
	c.connected()
	for name, disk := range d {
		require.Equal(t, *c.nodes[name].Document(), *disk.Ring())
	}

	t.Run("or there is no vote", func(t *testing.T) {
		for _, sick := range []string{"a", "c"} { // the coordinator, another one
			d := newDisks("a", "b", "c")
			d[sick].saves = func(change.Document) error { return errors.New("read-only file system") }
			c := newTestCluster(t, 3)
			for _, m := range c.initial {
				c.start(m.Name, d.use)
			}
			n := c.nodes[sick]
			c.eventually(func() bool { return n.Self().State == admin.Failed })
			require.Nil(t, n.replicas.View())
			c.eventually(func() bool { return c.logs.contains("read-only file system") })
			require.EqualValues(t, register.NotVoting, c.dial(n).do("get k").Reason)

			c.stop(sick)
			d[sick].saves = nil // repaired
			c.start(sick, d.use)
			c.connected()
			c.set("b", "k", "v")
		}
	})
}

// TestARingOfDifferentBackupsDoesNotForm: where only one replica has a record of old, an
// acknowledged write could be taken for older than it.
func TestARingOfDifferentBackupsDoesNotForm(t *testing.T) {
	c, d := newTestCluster(t, 3), newDisks("a", "b", "c")
	d["a"].restored = "one backup"
	for _, m := range c.initial {
		c.start(m.Name, d.use)
	}
	c.eventually(func() bool { return c.logs.contains("did not begin with the same backups") })
	require.Nil(t, d["b"].Ring())

	for _, name := range []string{"b", "c"} {
		c.stop(name)
		d[name].restored = "one backup"
		c.start(name, d.use)
	}
	c.connected()
}

// TestACrashWhileForming goes through the moments at which the coordinator, or another
// member, may end between proposal and commit.
func TestACrashWhileForming(t *testing.T) {
	ringOf := func(c *testCluster, d disks) *change.Document {
		cluster := c.initial.Cluster("test", 3)
		for i := range cluster.Members {
			cluster.Members[i].Generation = d[cluster.Members[i].Name].generation
		}
		doc, err := change.FromCluster(cluster)
		require.NoError(t, err)
		return &doc
	}
	t.Run("of the coordinator, after it saved the ring", func(t *testing.T) {
		c, d := newTestCluster(t, 3), newDisks("a", "b", "c")
		for _, name := range []string{"b", "c"} {
			c.start(name, d.use)
		}
		cluster := ringOf(c, d)
		require.NoError(t, c.nodes["b"].members.AnswerPropose(encode(t, cluster.Ring()))) // c never heard of it
		d["a"].ring = cluster
		c.start("a", d.use)
		c.connected()
		for name := range c.nodes {
			require.Equal(t, cluster.Digest(), d[name].Ring().Digest())
		}
	})
	t.Run("of the coordinator, before it saved the ring", func(t *testing.T) {
		c, d := newTestCluster(t, 3), newDisks("a", "b", "c")
		for _, name := range []string{"b", "c"} {
			c.start(name, d.use)
			require.NoError(t, c.nodes[name].members.AnswerPropose(encode(t, ringOf(c, d).Ring())))
		}
		c.start("a", d.use)
		c.connected()
		c.set("a", "k", "v")
	})
	t.Run("of another member, which only had accepted", func(t *testing.T) {
		c, d := newTestCluster(t, 3), newDisks("a", "b", "c")
		cluster := ringOf(c, d)
		d["a"].ring, d["b"].ring = cluster, cluster
		c.start("a", d.use)
		c.start("b", d.use)
		c.start("c", d.use) // it was restarted, and has nothing but its generation
		c.connected()
		require.Equal(t, cluster.Digest(), d["c"].Ring().Digest())
	})
	t.Run("of a member that has no disk", func(t *testing.T) {
		c, d := newTestCluster(t, 3), newDisks("a", "b", "c")
		cluster := ringOf(c, d)
		d["a"].ring, d["b"].ring = cluster, cluster
		delete(d, "c") // another generation than the one that accepted
		c.start("a", d.use)
		c.start("b", d.use)
		again := c.start("c", d.use)
		c.eventually(func() bool { return again.Self().State == admin.LostState })
		c.eventually(func() bool { return c.nodes["a"].peers.Of(2).Alive() })
		c.set("a", "k", "v")
	})
}

func encode(t *testing.T, cluster ring.Cluster) []byte {
	t.Helper()
	payload, err := json.Marshal(cluster)
	require.NoError(t, err)
	return payload
}

func TestALostStateIsNotVotedFor(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*disk){
		"known to be lost": func(d *disk) { // a directory takes another generation then
			d.lost = "the machine was restarted after a crash, with --fsync interval"
			d.generation++
		},
		"another generation": func(d *disk) { d.generation++ },
		"an empty directory": func(d *disk) { *d = disk{engine: memory.New(), generation: 7} },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisks("a", "b", "c")
			c := newFormed(t, 3, d.use)
			c.set("a", "k", "v")
			c.stop("c")
			change(d["c"])
			again := c.start("c", d.use)
			c.eventually(func() bool { return again.Self().State == admin.LostState })
			c.eventually(func() bool { return c.logs.contains("this node has lost its state and does not vote") })
			if d["c"].lost != "" {
				require.Contains(t, again.Self().Reason, d["c"].lost)
			}
			require.Nil(t, again.replicas.View())
			r := c.dial(again).do("get k")
			require.EqualValues(t, register.NotVoting, r.Reason, "%+v", r)
			c.requireValue("b", "k", "v")
			c.stop("b")
			c.eventually(func() bool { return !c.nodes["a"].peers.Of(2).Connected() })
			// Until it has heard that the home that stopped is gone, it may say that it has lost its term.
			c.eventually(func() bool { return c.dial(c.nodes["a"]).do("set k w").Reason == register.NoQuorum })
			c.start("b", d.use)
			c.eventually(func() bool { return c.nodes["a"].peers.Of(2).Alive() })
			c.requireValue("a", "k", "v")
		})
	}
	t.Run("before it ever voted", func(t *testing.T) {
		d := newDisks("a", "b", "c")
		d["c"].lost = "the machine was restarted"
		c := newFormed(t, 3, d.use)
		c.set("c", "k", "v")
	})
}

// TestADiskAmongMemoryNodes: their restart does not lead the durable ones into another ring.
func TestADiskAmongMemoryNodes(t *testing.T) {
	d := newDisks("a", "b")
	c := newFormed(t, 3, d.use)
	digest := c.nodes["a"].replicas.View().Cluster.Digest()
	c.set("a", "k", "v")
	for _, name := range []string{"a", "b", "c"} {
		c.stop(name)
	}
	c.start("c", d.use) // forms nothing alone,
	c.start("a", d.use)
	c.start("b", d.use)
	c.eventually(func() bool { return c.nodes["c"].Self().State == admin.LostState })
	c.eventually(func() bool { return c.nodes["a"].peers.Of(2).Alive() && c.nodes["b"].peers.Of(1).Alive() })
	c.requireValue("a", "k", "v")
	require.Equal(t, digest, c.nodes["b"].replicas.View().Cluster.Digest())

	for _, name := range []string{"b", "c"} { // and what the majority kept in memory only is gone
		c.stop(name)
		delete(d, name)
		c.start(name, d.use)
	}
	c.eventually(func() bool { return c.nodes["b"].Self().State == admin.LostState })
	require.EqualValues(t, register.NoQuorum, c.dial(c.nodes["a"]).do("get k").Reason)
}

func TestMachinesMayGetOtherAddresses(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	l := newLogs(t, d)
	use := func(o *Options) { soon(o); d.use(o); l.use(o) }
	c := newFormed(t, 3, use)
	c.set("a", "k", "v")
	for i := range c.initial {
		c.stop(c.initial[i].Name)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		c.listeners[c.initial[i].Name] = listener
	}
	c.initial = append(ring.Initial(nil), c.initial...)
	for i := range c.initial {
		c.initial[i].Peer = c.listeners[c.initial[i].Name].Addr().String()
	}
	for _, m := range c.initial {
		c.start(m.Name, use)
	}
	c.connected()
	c.requireValue("b", "k", "v")
	for _, m := range c.nodes["c"].replicas.View().Cluster.Members {
		require.Equal(t, c.nodes[m.Name].Address(), m.Peer)
	}
	for name, n := range c.nodes { // and the ring says so, soon
		c.eventually(func() bool {
			return !slices.ContainsFunc(n.Document().Members, func(l change.Life) bool { return l.Peer != c.nodes[l.Name].Address() })
		})
		require.Equal(t, c.nodes["a"].Document().Formation, n.Document().Formation, name)
	}
}

func TestAnotherClusterIsRefused(t *testing.T) {
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, d.use)
	c.stop("b")
	for want, change := range map[string]func(*Options){
		"differ: c is only there; z is only here": func(o *Options) {
			o.Initial = append(o.Initial[:2:2], ring.InitialMember{Name: "z", Peer: "127.0.0.1:9"})
		},
		"c is only there": func(o *Options) { o.Initial, o.Replicas = o.Initial[:2:2], 3 },
		`part of cluster "test" with 3 replicas of each key, but is started for "prod" with 3`: func(o *Options) { o.ClusterName = "prod" },
		`but is started for "test" with 2: correct --cluster-name and --replicas, or --data`:   func(o *Options) { o.Replicas = 2 },
	} {
		opt := c.options("b", func(o *Options) { d.use(o); change(o) })
		_, err := Start(opt)
		require.ErrorContains(t, err, want)
		require.NoError(t, opt.Listener.Close())
	}
	c.start("b", d.use)
	c.connected()
}

func TestTheRingOfARestartedNodeReachesProxies(t *testing.T) {
	d := newDisks("a")
	c := newFormed(t, 1, d.use)
	c.stop("a")
	n := c.start("a", d.use)
	props, err := protocol.DecodeProperties(n.members.Hello())
	require.NoError(t, err)
	require.True(t, props.Voting)
	require.Equal(t, n.replicas.View().Cluster.Digest(), props.Ring.Formation)
}
