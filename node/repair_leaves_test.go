package node

import (
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/ring"
)

// newLarge starts three nodes that all hold many keys in one slot, which a is responsible for.
func newLarge(t *testing.T, keys int, change func(*Options)) (c *testCluster, slot uint16) {
	c = newFormed(t, 3, change)
	slot = ring.SlotOf([]byte(c.keyOf(c.nodes["a"])))
	for _, n := range c.nodes {
		st := n.lock(slot, nil)
		for i := range keys {
			rec := record.Record{Version: record.Version{Seq: uint64(i) + 1}, State: record.State{Type: record.String, Value: []byte("v")}}
			require.NoError(t, n.engine.Put(slot, largeKey(i), rec))
		}
		st.unlock()
	}
	return c, slot
}

func largeKey(i int) []byte { return fmt.Append(nil, "large-", i) }

// lose makes a node miss a key.
func (c *testCluster) lose(name string, slot uint16, key []byte) {
	st := c.nodes[name].lock(slot, nil)
	defer st.unlock()
	require.NoError(c.t, c.nodes[name].engine.Delete(slot, key))
}

// compareAt lets a node compare a slot with all peers, and returns also how many records were listed.
func (c *testCluster) compareAt(name string, slot uint16, dry bool) (progress *RepairProgress, listed int64) {
	c.t.Helper()
	progress = &RepairProgress{}
	repairs := c.nodes[name].repairs
	before := repairs.listed.Load()
	require.NoError(c.t, c.nodes[name].Repair(c.t.Context(), RepairRequest{First: slot, Last: slot, DryRun: dry}, progress))
	require.EqualValues(c.t, 2, progress.Slots.Load(), "of both peers")
	return progress, repairs.listed.Load() - before
}

// repairAt lets a node repair a slot until all nodes hold the same.
func (c *testCluster) repairAt(name string, slot uint16) {
	c.t.Helper()
	c.eventually(func() bool {
		progress, _ := c.compareAt(name, slot, false)
		return progress.Keys.Load() == 0 && c.converged()
	})
}

// inLeaf counts the keys of newLarge in a leaf.
func inLeaf(keys, leaf int) (n int64) {
	for i := range keys {
		if engine.LeafOf(engine.PositionOf(largeKey(i))) == leaf {
			n++
		}
	}
	return n
}

// TestOneKeyOfALargeSlot is found among very many without listing more than the keys of its leaf.
func TestOneKeyOfALargeSlot(t *testing.T) {
	keys := 200_000
	if testing.Short() {
		keys = 20_000
	}
	c, slot := newLarge(t, keys, nil)
	lost := largeKey(77)
	c.lose("c", slot, lost)

	progress, listed := c.compareAt("a", slot, true)
	require.EqualValues(t, 1, progress.Keys.Load())
	require.EqualValues(t, 1, progress.Differing.Load())
	leaf := inLeaf(keys, engine.LeafOf(engine.PositionOf(lost)))
	require.Equal(t, leaf+leaf-1, listed)
	require.Less(t, listed, int64(2*keys*3/100))

	c.repairAt("a", slot)
	require.Equal(t, "v", string(c.held("c", slot, string(lost))))
	_, listed = c.compareAt("a", slot, false)
	require.Zero(t, listed)
}

// TestLeavesThatDifferInSeveralPlaces are all listed, and nothing between them, whatever the pages.
func TestLeavesThatDifferInSeveralPlaces(t *testing.T) {
	const keys = 10 * repairPage
	c, slot := newLarge(t, keys, nil)
	leaves := map[int]bool{}
	const lost = 20
	for i := range lost {
		c.lose("c", slot, largeKey(i))
		leaves[engine.LeafOf(engine.PositionOf(largeKey(i)))] = true
	}
	c.lose("a", slot, largeKey(lost)) // which b and c have
	leaves[engine.LeafOf(engine.PositionOf(largeKey(lost)))] = true
	want := int64(0)
	for leaf := range leaves {
		want += inLeaf(keys, leaf)
	}

	progress, listed := c.compareAt("a", slot, true)
	require.EqualValues(t, lost+2, progress.Keys.Load(), "what a lost differs from both")
	require.Less(t, listed, 2*2*want, "of two peers and both sides")
	require.Less(t, listed, int64(2*2*keys/2))
	c.repairAt("a", slot)
	for i := range lost + 1 {
		for name := range c.nodes {
			require.Equal(t, "v", string(c.held(name, slot, string(largeKey(i)))), "%s, %d", name, i)
		}
	}
}

// busy is an engine of which a slot is written all the time: whoever looks finds a write under way, in
// one leaf after the other.
type busy struct {
	*memory.Engine
	slot   atomic.Int64 // 0: none
	leaves atomic.Pointer[[]int]
	looks  atomic.Int64
}

func (b *busy) Stats(slot uint16) (engine.SlotStats, error) {
	stats, err := b.Engine.Stats(slot)
	if int64(slot) == b.slot.Load() {
		stats.Digest++
	}
	return stats, err
}

func (b *busy) Leaves(slot uint16) (engine.Leaves, error) {
	leaves, err := b.Engine.Leaves(slot)
	if int64(slot) == b.slot.Load() {
		list := *b.leaves.Load()
		leaves[list[int(b.looks.Add(1))%len(list)]]++
	}
	return leaves, err
}

// TestASlotThatIsWrittenAllTheTime is not listed but for the leaves that always differ, and nothing is written.
func TestASlotThatIsWrittenAllTheTime(t *testing.T) {
	const keys = 2000
	written := &busy{Engine: memory.New()}
	c, slot := newLarge(t, keys, func(o *Options) {
		if o.Name == "c" {
			o.Engine = written
		}
	})
	require.NotZero(t, slot)
	written.leaves.Store(&[]int{3, 9})
	written.slot.Store(int64(slot))
	_, listed := c.compareAt("a", slot, false)
	require.Zero(t, listed)

	written.leaves.Store(&[]int{5})
	progress, listed := c.compareAt("a", slot, false)
	require.Equal(t, 2*inLeaf(keys, 5), listed)
	require.Zero(t, progress.Keys.Load()+progress.Differing.Load()+progress.Failed.Load())
}

// moving is an engine of which a slot is being written when somebody looks at it, some times.
type moving struct {
	*memory.Engine
	slot  atomic.Int64 // 0: none
	looks atomic.Int64 // that are left to find it so
}

func (m *moving) Stats(slot uint16) (engine.SlotStats, error) {
	stats, err := m.Engine.Stats(slot)
	if int64(slot) == m.slot.Load() && m.looks.Add(-1) >= 0 {
		stats.Digest++
	}
	return stats, err
}

// TestASlotThatDiffersForAMomentIsNotListed, but one that does at every look.
func TestASlotThatDiffersForAMomentIsNotListed(t *testing.T) {
	written := &moving{Engine: memory.New()}
	c, slot := newLarge(t, leavesFrom-1, func(o *Options) {
		if o.Name == "c" {
			o.Engine = written
		}
	})
	require.NotZero(t, slot)
	written.slot.Store(int64(slot))
	written.looks.Store(slotLooks - 1)
	_, listed := c.compareAt("a", slot, false)
	require.Zero(t, listed)
	require.Negative(t, written.looks.Load(), "it was looked at once more")

	written.looks.Store(slotLooks)
	progress, listed := c.compareAt("a", slot, false)
	require.EqualValues(t, 2*(leavesFrom-1), listed)
	require.Zero(t, progress.Keys.Load()+progress.Differing.Load()+progress.Failed.Load())
}

// TestASmallSlotIsListedAtOnce: its leaves would take more.
func TestASmallSlotIsListedAtOnce(t *testing.T) {
	c, slot := newLarge(t, leavesFrom-1, nil)
	c.lose("c", slot, largeKey(1))
	_, listed := c.compareAt("a", slot, true)
	require.EqualValues(t, 2*leavesFrom-3, listed)
	c.repairAt("a", slot)
}

// former is a node that does not know leaves, and tells the digests of all slots, whatever it is asked.
type former struct{ *Node }

func (f former) Frame(c *wire.ServerConn, typ wire.FrameType, body []byte, age time.Duration) {
	if typ == protocol.FrameCall {
		id, method, payload, err := protocol.DecodeCall(body)
		if err == nil && method > protocol.MethodRepair {
			_ = c.SendFrames(protocol.AppendCallReply(nil, id, nil, fmt.Errorf("node: unknown call %d", method)))
			return
		}
		if method == protocol.MethodDigests {
			body = body[:len(body)-len(payload)]
		}
	}
	f.Node.Frame(c, typ, body, age)
}

// TestAPeerThatDoesNotKnowLeaves has its slots listed as a whole.
func TestAPeerThatDoesNotKnowLeaves(t *testing.T) {
	const keys = 1000
	c, slot := newLarge(t, keys, nil)
	c.lose("c", slot, largeKey(1))
	a := c.nodes["a"]
	p := &peer{node: a, name: "c", id: c.nodes["c"].self.ID}
	p.link = c.linkToFormer(c.nodes["c"], a, func() *protocol.Caller { return p.caller })
	p.caller = protocol.NewCaller(p.link)
	p.link.Start(t.Context())
	c.eventually(func() bool { return p.link.State() == wire.Up })

	progress := &RepairProgress{}
	request := RepairRequest{First: slot, Last: slot, DryRun: true}
	require.NoError(t, a.repairs.comparison(a.view.Load(), p, request, progress).run(t.Context()))
	require.EqualValues(t, 2*keys-1, a.repairs.listed.Load())
	require.EqualValues(t, 1, progress.Keys.Load())
}

// linkToFormer makes a node answer at another port as if it were of a former version, and returns a
// link to it.
func (c *testCluster) linkToFormer(n, from *Node, caller func() *protocol.Caller) *wire.Link {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(c.t, err)
	server := wire.NewServer(wire.ServerConfig{Options: n.wireOptions(), Handler: former{n}, Accept: n.accept})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	link := wire.NewLink(wire.LinkConfig{
		Options: wire.Options{Logger: slog.New(slog.DiscardHandler)}, Address: listener.Addr().String(), Hello: from.hello,
		OnFrame: func(_ wire.FrameType, body []byte, _ time.Duration) { caller().HandleReply(body) },
		OnDown:  func(_ uint64, err error) { caller().Down(err) },
	})
	c.t.Cleanup(func() {
		link.Close()
		server.Close()
		<-ended
	})
	return link
}
