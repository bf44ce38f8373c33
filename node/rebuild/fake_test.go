package rebuild

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slot is the only one that is rebuilt here.
const slot = 7

var errFailed = errors.New("the store failed")

// fakeNode is a Node with one slot: a real replica and home, in memory, under one lock.
type fakeNode struct {
	*Rebuilder
	id       uint16
	engine   engine.Engine
	others   []Peer
	formed   chan struct{}
	metrics  metrics.Node
	mu       sync.Mutex
	acceptor register.Acceptor
	home     register.Home
	err      error // why the slot does not vote
	lost     error // a member that is no node any more
	failed   error
}

// fakePeer is a node as another one sees it.
type fakePeer struct {
	*fakeNode
	down  atomic.Bool
	asks  atomic.Int64
	loses atomic.Bool // the next object
}

// env is what a home needs to be rebuilt: nothing, as long as nobody waits for it.
type env struct{ register.Env }

// newFakes returns nodes that hold the slot. change sets their engines, if they are others than memory.
func newFakes(t *testing.T, size int, change func(*fakeNode)) []*fakeNode {
	nodes := make([]*fakeNode, size)
	var members []uint16
	for i := range nodes {
		nodes[i] = &fakeNode{id: uint16(i + 1), engine: memory.New(), formed: make(chan struct{})}
		if change != nil {
			change(nodes[i])
		}
		members = append(members, nodes[i].id)
	}
	for _, n := range nodes {
		for _, other := range nodes {
			if other != n {
				n.others = append(n.others, &fakePeer{fakeNode: other})
			}
		}
		n.Rebuilder = New(n, Options{Rate: 1 << 30, Logger: slog.New(slog.DiscardHandler), Metrics: &n.metrics})
		var err error
		n.acceptor, err = register.NewAcceptor(slot, store{n.engine}, nil)
		require.NoError(t, err)
		timing := register.DefaultTiming()
		n.home = register.NewHome(env{}, &timing, slot, n.id, record.NewIncarnation(1, n.id), register.NewConfig(1, members, nil), &n.acceptor)
		t.Cleanup(func() { require.NoError(t, n.engine.Close()) })
	}
	return nodes
}

// store is an engine as a replica sees it.
type store struct{ engine.Engine }

func (s store) Names(uint16, database.ID, func([]byte) bool) error {
	panic("nobody reads all keys here")
}

func (s store) Stage(slot uint16, version record.Version, changes []record.Change) error {
	for i := range changes {
		if err := s.Put(slot, changes[i].Key, record.Record{Version: version, State: changes[i].State}); err != nil {
			return err
		}
	}
	return nil
}

// damage finds that the slot cannot be read.
func (n *fakeNode) damage() {
	n.err = engine.ErrCorrupt
	n.Add(slot, n.err)
}

// content returns the values of the slot's records, by key.
func (n *fakeNode) content(t *testing.T) map[string]string {
	content := map[string]string{}
	require.NoError(t, n.engine.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
		content[string(key)] = string(rec.State.Value)
		return true
	}))
	return content
}

func value(text string, seq uint64) record.Record {
	return record.Record{Version: record.Version{Seq: seq}, State: record.State{Type: record.String, Value: []byte(text)}}
}

func (n *fakeNode) Formed() <-chan struct{}                    { return n.formed }
func (n *fakeNode) Epoch(uint16) uint64                        { return 1 }
func (n *fakeNode) Others(uint16) ([]Peer, error)              { return n.others, n.lost }
func (n *fakeNode) State(slot uint16) (record.SlotMeta, error) { return n.engine.Slot(slot) }
func (n *fakeNode) Lock(uint16) Slot                           { n.mu.Lock(); return fakeSlot{n} }
func (n *fakeNode) Committed(context.Context) error            { return nil }
func (n *fakeNode) StorageFailed(err error)                    { n.failed = err }
func (n *fakeNode) Failed() bool                               { return n.failed != nil }
func (n *fakeNode) Unreadable(_ uint16, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err == nil {
		n.err = err
	}
}

func (p *fakePeer) ID() uint16          { return p.id }
func (p *fakePeer) Name() string        { return fmt.Sprint("node-", p.id) }
func (p *fakePeer) Alive() bool         { return !p.down.Load() }
func (p *fakePeer) Unreachable() string { return "down" }
func (p *fakePeer) AskObjects(_ context.Context, _ protocol.Method, payload []byte) ([]byte, protocol.Objects, error) {
	p.asks.Add(1)
	objects := protocol.Objects{}
	reply, err := p.AnswerCopy(payload, func(s *record.State) uint64 {
		if s.Object == nil {
			return 0
		}
		id := uint64(len(objects) + 1)
		if p.loses.CompareAndSwap(true, false) {
			return id
		}
		objects[id] = record.State{Type: s.Type, Object: s.Object}
		return id
	})
	return reply, objects, err
}

type fakeSlot struct{ node *fakeNode }

func (s fakeSlot) Open() error                       { return s.node.err }
func (s fakeSlot) Begin() (*register.Rebuild, error) { return s.node.home.Rebuild(new(register.Ready)) }
func (s fakeSlot) Persist(w *register.Write) error   { return w.To(store{s.node.engine}) }
func (s fakeSlot) Restored()                         { s.node.err = nil }
func (s fakeSlot) Meta() record.SlotMeta             { return s.node.acceptor.Meta() }
func (s fakeSlot) Unlock()                           { s.node.mu.Unlock() }
func (s fakeSlot) Fence(epoch uint64, b record.Ballot) (bool, error) {
	var w register.Write
	current, err := s.node.acceptor.Fence(epoch, b, &w)
	if err != nil || !w.Wanted() {
		return current, err
	}
	return current, s.node.acceptor.Persisted(&w, s.Persist(&w))
}

func (s fakeSlot) Scan(from engine.Position, enough func() bool, visit func(engine.Position, []byte, record.Record)) (engine.Position, error) {
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
