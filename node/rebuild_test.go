package node

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// rotting is an engine in which some records cannot be read, until their slot is emptied.
type rotting struct {
	engine.Engine
	mu     sync.Mutex
	rotten map[uint16]string
	report func(uint16, error)
}

// ReportDamage makes rotting a damageReporter.
func (r *rotting) ReportDamage(report func(uint16, error)) { r.report = report }

func (r *rotting) rot(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rotten = map[uint16]string{ring.SlotOf([]byte(key)): key}
}

func (r *rotting) keyIn(slot uint16) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, found := r.rotten[slot]
	return key, found
}

func (r *rotting) Get(slot uint16, key []byte) (record.Record, bool, error) {
	if rotten, found := r.keyIn(slot); found && rotten == string(key) {
		return record.Record{}, false, errFlipped
	}
	return r.Engine.Get(slot, key)
}

func (r *rotting) Scan(slot uint16, from engine.Position, visit func(engine.Position, []byte, record.Record) bool) error {
	if _, found := r.keyIn(slot); found {
		return errFlipped
	}
	return r.Engine.Scan(slot, from, visit)
}

func (r *rotting) Reset(slot uint16, meta record.SlotMeta) error {
	r.mu.Lock()
	delete(r.rotten, slot)
	r.mu.Unlock()
	return r.Engine.Reset(slot, meta)
}

// newRotting starts nodes of which b is one whose data can rot.
func newRotting(t *testing.T, size int, change func(*Options)) (*testCluster, *rotting) {
	e := &rotting{Engine: memory.New()}
	return newFormed(t, size, func(o *Options) {
		if o.Name == "b" {
			o.Engine = e
		}
		if change != nil {
			change(o)
		}
	}), e
}

// contentOf returns all records of a slot.
func contentOf(t testing.TB, n *Node, slot uint16) map[string]record.Record {
	content := map[string]record.Record{}
	st := n.replicas.Lock(slot, nil)
	defer st.Unlock()
	require.NoError(t, n.engine.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
		content[string(key)] = rec
		return true
	}))
	return content
}

// TestADamagedSlotIsRebuilt: whoever finds out that a record cannot be read, the node has it again soon, and
// all others of its slot.
func TestADamagedSlotIsRebuilt(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(b *Node, key string){
		"by a read": func(b *Node, key string) {
			_, _ = b.repairs.AnswerVersions(protocol.AppendVersionsRequest(nil, 1, []protocol.SlotKey{{Slot: ring.SlotOf([]byte(key)), Key: []byte(key)}}))
		},
		"by the background": func(b *Node, key string) { b.repairs.Recount(b.life, ring.SlotOf([]byte(key))) },
		"by its engine":     func(b *Node, key string) { b.engine.(*rotting).report(ring.SlotOf([]byte(key)), errFlipped) },
	} {
		t.Run(name, func(t *testing.T) {
			c, e := newRotting(t, 3, nil)
			a, b := c.nodes["a"], c.nodes["b"]
			proxy := c.dial(a)
			value := strings.Repeat("v", 90<<10) // so that they travel in several frames
			for i := range 9 {
				require.Equal(t, "+OK\r\n", string(proxy.do(fmt.Sprint("set {one}", i, " ", value)).Reply))
			}
			for i := range 300 {
				require.Equal(t, "+OK\r\n", string(proxy.do(fmt.Sprint("set {one}-", i, " v")).Reply))
			}
			require.Equal(t, ":1\r\n", string(proxy.do("del {one}-7").Reply))
			slot := ring.SlotOf([]byte("one"))
			c.eventually(func() bool { // it is purged everywhere
				for _, n := range c.nodes {
					if stats, err := n.slotStats(1, slot); err != nil || stats.Tombstones > 0 {
						return false
					}
				}
				return true
			})
			want := contentOf(t, a, slot)
			e.rot("{one}3")
			find(b, "{one}3")
			c.eventually(func() bool { return b.Metrics.Rebuilt.Value() == 1 && b.Self().DamagedSlots == 0 })
			require.Equal(t, 1, c.logs.count("the data of a slot is damaged"))
			require.Equal(t, 1, c.logs.count("has been copied from its other replicas"))
			require.Equal(t, want, contentOf(t, b, slot))
			leaves, err := b.engine.Leaves(slot)
			require.NoError(t, err)
			others, err := a.engine.Leaves(slot)
			require.NoError(t, err)
			require.Equal(t, others, leaves)

			c.stop("c")                // now its vote is needed
			c.eventually(func() bool { // a's home finds out that its term is over
				return string(proxy.do("get {one}3").Reply) == fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)
			})
			require.Equal(t, "+OK\r\n", string(proxy.do("set {one}3 new").Reply))
			c.eventually(func() bool { return string(c.dial(b).do("get {one}3").Reply) == "$3\r\nnew\r\n" })
		})
	}
}

// newDamaged starts a cluster in which b cannot read its record of a key, and knows it, and a's store keeps everybody waiting.
func newDamaged(t *testing.T) (c *testCluster, e *rotting, slow *enginetest.SlowEngine, key string) {
	slow = enginetest.Slow(memory.New())
	c, e = newRotting(t, 3, func(o *Options) {
		if o.Name == "a" {
			o.Engine = slow
		}
	})
	key = c.keyOf(c.nodes["c"])
	require.Equal(t, "+OK\r\n", string(c.dial(c.nodes["c"]).do("set "+key+" v").Reply))
	e.rot(key)
	c.nodes["b"].repairs.Recount(t.Context(), ring.SlotOf([]byte(key)))
	return c, e, slow, key
}

// TestARebuildNeedsEveryReplica: until all others have promised nothing is removed, and there is no vote.
func TestARebuildNeedsEveryReplica(t *testing.T) {
	c, e, slow, key := newDamaged(t)
	b, slot := c.nodes["b"], ring.SlotOf([]byte(key))
	c.eventually(func() bool { // its promise is held
		st := c.nodes["a"].replicas.Lock(slot, nil)
		defer st.Unlock()
		meta, err := slow.Slot(slot)
		return err == nil && meta.Promised.Member() == b.self().ID
	})
	require.Equal(t, 1, b.Self().DamagedSlots)
	require.EqualValues(t, register.StorageFailed, c.dial(b).do("get "+key).Reason)
	_, rotten := e.keyIn(slot)
	require.True(t, rotten, "what it holds may yet be the last copy")
	c.eventually(func() bool {
		slow.Release()
		return b.Self().DamagedSlots == 0
	})
	require.Equal(t, contentOf(t, c.nodes["c"], slot), contentOf(t, b, slot))
}

// TestARebuildGoesOnAfterARestart: a node that was killed in the middle does not vote with what it has.
func TestARebuildGoesOnAfterARestart(t *testing.T) {
	c := newTestCluster(t, 3)
	half := memory.New()
	slot := ring.SlotOf([]byte("k"))
	require.NoError(t, half.PutSlot(slot, record.SlotMeta{Epoch: 1, Rebuilding: true}))
	require.NoError(t, half.Put(slot, []byte("foreign"), record.Record{Version: record.Version{Seq: 1}, State: record.State{Type: record.String}}))
	slow := enginetest.Slow(memory.New())
	c.start("a", func(o *Options) { o.Engine = slow })
	b := c.start("b", func(o *Options) { o.Engine = half })
	c.start("c", nil)
	c.connected()
	c.eventually(func() bool { return b.Self().DamagedSlots == 1 })
	_, err := b.slotStats(1, slot)
	require.ErrorIs(t, err, register.ErrRebuilding)
	require.EqualValues(t, register.StorageFailed, c.dial(b).one(op(protocol.ReadValue, "get k")).Reason)
	c.eventually(func() bool {
		slow.Release()
		return b.Self().DamagedSlots == 0
	})
	require.Empty(t, contentOf(t, b, slot))
	require.Equal(t, admin.Voting, b.Self().State)
}

func TestWhoMayCopyASlot(t *testing.T) {
	c, e := newRotting(t, 2, nil)
	b := c.nodes["b"]
	key := c.keyOf(b)
	slot := ring.SlotOf([]byte(key))
	require.Equal(t, "+OK\r\n", string(c.dial(b).do("set "+key+" v").Reply))
	ask := func(cl *client, r protocol.CopyRequest) (protocol.CopyPage, error) {
		payload, err := cl.caller.Call(t.Context(), protocol.MethodCopy, protocol.AppendCopyRequest(nil, r))
		if err != nil {
			return protocol.CopyPage{}, err
		}
		return protocol.DecodeCopyPage(payload, nil)
	}
	ballot := record.Ballot{Counter: 50, Incarnation: record.NewIncarnation(5, c.nodes["a"].self().ID)}
	good := protocol.CopyRequest{Slot: slot, Epoch: 1, Ballot: ballot, Limit: 1}
	peer := c.dialAs(b, c.nodes["a"])
	promise, err := ask(peer, protocol.CopyRequest{Slot: slot, Epoch: 1, Ballot: ballot})
	require.NoError(t, err)
	require.Empty(t, promise.Entries)
	page, err := ask(peer, good)
	require.NoError(t, err)
	require.Len(t, page.Entries, 1)
	require.Equal(t, key, string(page.Entries[0].Key))
	require.EqualValues(t, engine.EndPosition, page.Next)
	meta, err := b.engine.Slot(slot)
	require.NoError(t, err)
	require.Equal(t, ballot, meta.Promised)

	other := good
	other.Epoch = 2
	_, err = ask(peer, other)
	require.ErrorContains(t, err, "another epoch")
	_, err = ask(c.dial(b), good)
	require.ErrorContains(t, err, "only nodes")
	other = good
	other.Slot = ring.Slots
	_, err = ask(peer, other)
	require.Error(t, err)
	e.rot(key)
	_, err = ask(peer, good)
	require.ErrorContains(t, err, engine.ErrCorrupt.Error())
}
