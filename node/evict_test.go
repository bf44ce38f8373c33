package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// newEvicting starts three nodes that evict by a policy when their data take more than a limit.
func newEvicting(t *testing.T, policy string, limit int64) *testCluster {
	t.Helper()
	p, err := eviction.ParsePolicy(policy)
	require.NoError(t, err)
	return newFormed(t, 3, func(o *Options) {
		e, s := memory.NewWithin(limit), eviction.DefaultSettings()
		s.Policy = p
		e.SetEviction(s)
		o.Engine = e
	})
}

func (c *testCluster) memory(name string) *memory.Engine {
	return c.nodes[name].engine.(*memory.Engine)
}

func (c *testCluster) evicted() (keys uint64) {
	for _, n := range c.nodes {
		keys += n.Metrics.Evicted.Value()
	}
	return keys
}

// sets writes keys at node a as a client that waits for each answer in turn, and requires that all are done.
func (c *testCluster) sets(n int, command func(i int) string) {
	c.t.Helper()
	cl := c.dial(c.nodes["a"])
	for i := range n {
		o := op(protocol.Execute, command(i))
		o.Except = protocol.AllOthers
		c.eventually(func() bool { // a busy machine loses terms
			r := cl.one(o)
			require.NotEqual(c.t, register.OutOfMemory, r.Reason)
			return r.Status == protocol.StatusDone
		})
	}
}

// someOf are the policies that a test tries: in short runs the first.
func someOf(policies ...string) []string {
	if testing.Short() {
		return policies[:1]
	}
	return policies
}

// TestKeysAreEvicted: with far more data than there is memory for every write is done, all replicas hold the same keys in the end, and the data are within the limit.
func TestKeysAreEvicted(t *testing.T) {
	t.Parallel()
	for _, policy := range someOf("allkeys-lru", "allkeys-lfu", "allkeys-random") {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			const limit, keys = 1 << 20, 2500
			c := newEvicting(t, policy, limit)
			value := strings.Repeat("v", 1000)
			most := int64(0)
			c.sets(keys, func(i int) string {
				used, _ := c.memory("a").Memory()
				most = max(most, used)
				return fmt.Sprintf("set key%d %s", i, value)
			})
			require.LessOrEqual(t, most, int64(limit+limit/8))
			c.eventually(func() bool {
				used, _ := c.memory("a").Memory()
				return used <= limit && c.live("a") == c.live("b") && c.live("b") == c.live("c")
			})
			require.Greater(t, c.live("a"), uint64(500))
			require.InDelta(t, keys-c.live("a"), c.evicted(), 100, "each was counted, unless its home lost the slot meanwhile")
			c.eventually(func() bool { // evictions may be on their way yet
				for i := range keys {
					key := fmt.Sprint("key", i)
					slot := ring.SlotOf([]byte(key))
					if at := string(c.held("a", slot, key)); at != string(c.held("b", slot, key)) || at != string(c.held("c", slot, key)) {
						return false
					}
				}
				return true
			})
		})
	}
}

// TestOnlyWhatExpiresIsEvicted under a volatile policy; when nothing does any more, writes are refused.
func TestOnlyWhatExpiresIsEvicted(t *testing.T) {
	t.Parallel()
	for _, policy := range someOf("volatile-ttl", "volatile-lru", "volatile-lfu", "volatile-random") {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			const limit = 1 << 20
			c := newEvicting(t, policy, limit)
			value := strings.Repeat("v", 1000)
			c.sets(300, func(i int) string { return fmt.Sprintf("set stays%d %s", i, value) })
			c.sets(2000, func(i int) string { return fmt.Sprintf("psetex goes%d %d %s", i, 1000_000+i*1000, value) })
			for i := range 300 {
				key := fmt.Sprint("stays", i)
				require.NotEmpty(t, c.held("a", ring.SlotOf([]byte(key)), key), key)
			}
			require.Greater(t, c.evicted(), uint64(1000))
			if policy == "volatile-ttl" {
				sooner, later := 0, 0
				for i := range 2000 {
					key := fmt.Sprint("goes", i)
					if len(c.held("a", ring.SlotOf([]byte(key)), key)) > 0 {
						if i < 1000 {
							sooner++
						} else {
							later++
						}
					}
				}
				require.Less(t, 10*sooner, later, "who expires sooner goes first")
			}
			cl := c.dial(c.nodes["a"])
			for i := 0; ; i++ {
				require.Less(t, i, 2000, "1 MiB have no room for them")
				r := cl.do(fmt.Sprintf("set more%d %s", i, value))
				if r.Status == protocol.StatusNotDone && r.Reason == register.OutOfMemory {
					break
				}
			}
		})
	}
}

// TestWhoIsUsedStays: what is read again and again is there when much else has come and gone, be it read at a majority or at the home.
func TestWhoIsUsedStays(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			c := newEvicting(t, policy, 1<<20)
			value := strings.Repeat("v", 1000)
			c.sets(100, func(i int) string { return fmt.Sprintf("set used%d %s", i, value) })
			clients := []*client{c.dial(c.nodes["a"]), c.dial(c.nodes["b"]), c.dial(c.nodes["c"])}
			c.sets(1500, func(i int) string {
				for _, cl := range clients {
					cl.one(op(protocol.ReadValue, fmt.Sprint("get used", i%100)))
				}
				return fmt.Sprintf("set once%d %s", i, value)
			})
			there := 0
			for i := range 100 {
				key := fmt.Sprint("used", i)
				if len(c.held("a", ring.SlotOf([]byte(key)), key)) > 0 {
					there++
				}
			}
			require.GreaterOrEqual(t, there, 70, "of 100; at random it would be less than half")
		})
	}
}

// TestWhatWasWrittenSinceStays: an eviction deletes exactly the version that was chosen.
func TestWhatWasWrittenSinceStays(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, nil)
	a := c.nodes["a"]
	key := c.keyOf(a)
	slot := ring.SlotOf([]byte(key))
	evict := func(version record.Version) bool {
		gone := make(chan bool, 1)
		st := a.replicas.Lock(slot, a.replicas.Begin())
		st.Evict(slot, []byte(key), version, func(is bool) { gone <- is })
		st.End()
		return received(t, gone)
	}
	version := func() record.Version {
		rec, _, err := a.engine.Get(slot, []byte(key))
		require.NoError(t, err)
		return rec.Version
	}
	c.set("a", key, "chosen")
	chosen := version()
	c.set("a", key, "written")
	require.False(t, evict(chosen), "it was written since")
	require.Equal(t, "written", string(c.held("a", slot, key)), "it was written since")
	require.True(t, evict(version()))
	c.eventually(func() bool { return len(c.held("b", slot, key))+len(c.held("c", slot, key)) == 0 })
	require.False(t, evict(chosen), "it is gone")
}

// TestOthersEvictForANode: one whose limit is lower than the others' tells them, and they evict of its slots what they lead.
func TestOthersEvictForANode(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	c := newFormed(t, 3, func(o *Options) {
		e, s := memory.NewWithin(64*limit), eviction.DefaultSettings()
		if s.Policy = eviction.AllKeysRandom; o.Name == "a" {
			e.SetLimit(limit)
		}
		e.SetEviction(s)
		o.Engine = e
	})
	cl := c.dial(c.nodes["b"])
	value := strings.Repeat("v", 1000)
	for i := range 2000 {
		o := op(protocol.Execute, fmt.Sprintf("set key%d %s", i, value))
		o.Except = protocol.AllOthers // b leads all slots
		c.eventually(func() bool { return cl.one(o).Status == protocol.StatusDone })
	}
	c.eventually(func() bool { used, _ := c.memory("a").Memory(); return used <= limit })
	require.Positive(t, c.nodes["b"].Metrics.Evicted.Value()) // the others evict what they lead, on a busy machine most
	require.Greater(t, c.live("b"), uint64(300))
}

// TestWhatIsKnownOfTheUseOfAKey, by OBJECT, which is no use of it.
func TestWhatIsKnownOfTheUseOfAKey(t *testing.T) {
	t.Parallel()
	c := newEvicting(t, "allkeys-lfu", 1<<30)
	cl := c.dial(c.nodes["a"])
	c.sets(1, func(int) string { return "set k v" })
	about := func(what string) string {
		o := op(protocol.ReadValue, "get k")
		o.Req = command.Request{Op: command.OpObjectState, Args: [][]byte{[]byte("objectstate"), []byte("k"), []byte(what)}}
		return string(cl.one(o).Reply)
	}
	require.Contains(t, about("idletime"), "An LFU maxmemory policy is selected")
	before := about("freq")
	require.Equal(t, before, about("freq"))
	for range 5 {
		cl.one(op(protocol.ReadValue, "get k"))
	}
	require.Greater(t, about("freq"), before)
	s := *c.memory("a").Eviction()
	s.Policy = eviction.AllKeysLRU
	c.memory("a").SetEviction(s)
	require.Contains(t, about("freq"), "An LFU maxmemory policy is not selected")
	cl.one(op(protocol.ReadValue, "get k"))
	require.Equal(t, ":0\r\n", about("idletime"))
}
