package repair

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/hint"
	"github.com/quolldb/quoll/ring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeCluster is nodes a, b and c that all hold all slots, in memory. All slots of all nodes have one lock. A home's write
// reaches all nodes at once.
type fakeCluster struct {
	t     testing.TB
	mu    sync.Mutex
	table *ring.Table
	nodes []*fakeNode
}

// fakeNode is a Node.
type fakeNode struct {
	*Repairer
	cluster *fakeCluster
	id      uint16
	name    string
	engine  engine.Engine
	peers   []Peer
	metrics metrics.Node
	logs    bytes.Buffer
	back    atomic.Bool
	table   *ring.Table      // what it knows, the cluster's if nil
	refuses atomic.Bool      // its homes refuse what they are asked for
	damaged map[uint16]error // what Unreadable was told
}

// fakePeer is a Peer, as another one sees it.
type fakePeer struct {
	*fakeNode
	hints   *hint.Set
	down    atomic.Bool
	crowded atomic.Bool
	ask     func(protocol.Method, []byte) ([]byte, error)
}

// newFakes starts nodes that compare nothing by themselves.
func newFakes(t testing.TB, change func(*fakeNode)) *fakeCluster {
	var initial ring.Initial
	for _, name := range []string{"a", "b", "c"} {
		initial = append(initial, ring.InitialMember{Name: name, Peer: name + ".example:1"})
	}
	table, err := ring.Plan(initial.Cluster("test", 3))
	require.NoError(t, err)
	c := &fakeCluster{t: t, table: table}
	for i, m := range initial {
		n := &fakeNode{cluster: c, id: uint16(i + 1), name: m.Name, engine: memory.New(), damaged: map[uint16]error{}}
		n.back.Store(true)
		if change != nil {
			change(n)
		}
		c.nodes = append(c.nodes, n)
	}
	for _, n := range c.nodes {
		for _, other := range c.nodes {
			if other != n {
				n.peers = append(n.peers, &fakePeer{fakeNode: other, ask: other.answer, hints: hint.Open(hint.Options{Replica: other.name})})
			}
		}
		n.Repairer = New(t.Context(), n, Options{Name: n.name, Interval: -1, Logger: slog.New(slog.NewTextHandler(&n.logs, nil)), Metrics: &n.metrics})
		ended := make(chan struct{})
		go func() { defer close(ended); n.Run() }()
		t.Cleanup(func() {
			n.Close()
			<-ended
			require.NoError(t, n.engine.Close())
		})
	}
	return c
}

// peer returns a node as another one sees it.
func (c *fakeCluster) peer(of, name string) *fakePeer {
	for _, p := range c.node(of).peers {
		if p.Name() == name {
			return p.(*fakePeer)
		}
	}
	panic("no such peer")
}

func (c *fakeCluster) node(name string) *fakeNode { return c.nodes[name[0]-'a'] }

// slotOf returns a slot that a node leads.
func (c *fakeCluster) slotOf(name string) (slot uint16) {
	for c.table.Replicas(slot)[0] != c.node(name).id {
		slot++
	}
	return slot
}

// put gives all nodes a record, or some.
func (c *fakeCluster) put(slot uint16, key []byte, rec record.Record, nodes ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(nodes) == 0 {
		nodes = []string{"a", "b", "c"}
	}
	for _, name := range nodes {
		require.NoError(c.t, c.node(name).engine.Put(slot, key, rec))
	}
}

// held returns what a node holds of a key, "" for nothing.
func (c *fakeCluster) held(name string, slot uint16, key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	rec, _, err := c.node(name).engine.Get(slot, []byte(key))
	require.NoError(c.t, err)
	return string(rec.State.Value)
}

// equal reports whether all nodes hold the same in a slot.
func (c *fakeCluster) equal(slot uint16) bool {
	first, err := c.nodes[0].sums(slot)
	require.NoError(c.t, err)
	for _, n := range c.nodes {
		if sums, err := n.sums(slot); err != nil || sums != first {
			return false
		}
	}
	return true
}

// eventually waits for what other goroutines do.
func eventually(t testing.TB, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 10*time.Second, time.Millisecond)
}

func value(text string, version uint64) record.Record {
	return record.Record{Version: record.Version{Seq: version}, State: record.State{Type: record.String, Value: []byte(text)}}
}

func (n *fakeNode) Ring() (*ring.Table, uint16)     { return cmp.Or(n.table, n.cluster.table), n.id }
func (n *fakeNode) Reason() string                  { return "" }
func (n *fakeNode) Peers() []Peer                   { return n.peers }
func (n *fakeNode) Busy() bool                      { return false }
func (n *fakeNode) Back() bool                      { return n.back.Load() }
func (n *fakeNode) Lock(uint16) Slots               { n.cluster.mu.Lock(); return fakeSlots{n} }
func (n *fakeNode) LockForWrites(slot uint16) Slots { return n.Lock(slot) }
func (n *fakeNode) Unreadable(slot uint16, err error) {
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	n.damaged[slot] = err
}

// List reads all that is asked for, and cuts it.
func (n *fakeNode) List(r protocol.ScanRequest) (protocol.ScanPage, error) {
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	page := protocol.ScanPage{Next: protocol.EndPlace}
	for slot := r.From.Slot(); slot < ring.Slots && page.Next == protocol.EndPlace; slot++ {
		leaves := r.Wants(slot)
		if leaves == 0 {
			continue
		}
		last := protocol.EndPlace
		err := n.engine.Scan(slot, 0, func(pos engine.Position, key []byte, rec record.Record) bool {
			place := protocol.NewPlace(slot, uint64(pos))
			if place < r.From || leaves>>engine.LeafOf(pos)&1 == 0 {
				return true
			}
			if place != last && len(page.Entries) >= r.Limit {
				page.Next = place
				return false
			}
			last = place
			page.Entries = append(page.Entries, protocol.ScanEntry{Place: place, Key: bytes.Clone(key), Version: rec.Version, Type: rec.State.Type})
			return true
		})
		if err != nil {
			return page, err
		}
	}
	return page, nil
}

// answer answers a peer.
func (n *fakeNode) answer(method protocol.Method, payload []byte) ([]byte, error) {
	decode := protocol.DecodeScanRequest
	switch method {
	case protocol.MethodDigests:
		return n.AnswerDigests(payload)
	case protocol.MethodLeaves:
		return n.AnswerLeaves(payload)
	case protocol.MethodVersions:
		return n.AnswerVersions(payload)
	case protocol.MethodRepair:
		return n.AnswerRepair(payload)
	case protocol.MethodScanLeaves:
		decode = protocol.DecodeScanLeavesRequest
	case protocol.MethodScan:
	default:
		return nil, fmt.Errorf("unknown call %d", method)
	}
	request, err := decode(payload)
	if err != nil {
		return nil, err
	}
	page, err := n.List(request)
	if err != nil {
		return nil, err
	}
	return protocol.AppendScanPage(nil, &page), nil
}

func (p *fakePeer) ID() uint16          { return p.id }
func (p *fakePeer) Name() string        { return p.name }
func (p *fakePeer) Alive() bool         { return !p.down.Load() }
func (p *fakePeer) Connected() bool     { return p.Alive() }
func (p *fakePeer) Unreachable() string { return "down" }
func (p *fakePeer) Full() bool          { return false }
func (p *fakePeer) Crowded() bool       { return p.crowded.Load() }
func (p *fakePeer) Hints() *hint.Set    { return p.hints }

func (p *fakePeer) Ask(_ context.Context, method protocol.Method, payload []byte) ([]byte, error) {
	reply, err := p.ask(method, payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", protocol.ErrCall, err)
	}
	return reply, nil
}

// fakeSlots are all slots.
type fakeSlots struct{ node *fakeNode }

func (s fakeSlots) Unlock() { s.node.cluster.mu.Unlock() }

func (s fakeSlots) Readable(slot uint16) error { return s.node.damaged[slot] }

func (s fakeSlots) Responsible(slot uint16) bool {
	return s.node.cluster.table.Replicas(slot)[0] == s.node.id
}

func (s fakeSlots) Get(slot uint16, key []byte) (record.Record, bool, error) {
	return s.node.engine.Get(slot, key)
}

func (s fakeSlots) Stats(slot uint16) (engine.SlotStats, error) { return s.node.engine.Stats(slot) }
func (s fakeSlots) Leaves(slot uint16) (engine.Leaves, error)   { return s.node.engine.Leaves(slot) }
func (s fakeSlots) Correct(slot uint16, stats engine.SlotStats, leaves engine.Leaves) error {
	return s.node.engine.Correct(slot, stats, leaves)
}

func (s fakeSlots) Scan(slot uint16, from engine.Position, enough func() bool,
	visit func(engine.Position, []byte, record.Record)) (engine.Position, error) {
	next, last := engine.EndPosition, engine.EndPosition
	return next, s.node.engine.Scan(slot, from, func(pos engine.Position, key []byte, rec record.Record) bool {
		if pos != last && enough() {
			next = pos
			return false
		}
		last = pos
		visit(pos, key, rec)
		return true
	})
}

// Rewrite writes the newest state of the key to all nodes, under a version above all.
func (s fakeSlots) Rewrite(slot uint16, key []byte, answered func(bool)) {
	if s.node.refuses.Load() {
		answered(false)
		return
	}
	var newest record.Record
	for _, n := range s.node.cluster.nodes {
		if rec, _, err := n.engine.Get(slot, key); err == nil && newest.Version.Less(rec.Version) {
			newest = rec
			newest.State = rec.State.Keep()
		}
	}
	newest.Version.Seq++
	for _, n := range s.node.cluster.nodes {
		if err := n.engine.Put(slot, key, newest); err != nil {
			panic(err)
		}
	}
	answered(true)
}

// DeleteAgain purges a deletion: all nodes acknowledge it.
func (s fakeSlots) DeleteAgain(slot uint16, key []byte, answered func(bool)) {
	for _, n := range s.node.cluster.nodes {
		if err := n.engine.Delete(slot, key); err != nil {
			panic(err)
		}
	}
	answered(true)
}
