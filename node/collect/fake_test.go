package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring/change"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slot is the one that is collected, in an epoch, where nothing else is said.
const (
	slot  = 7
	epoch = 5
)

var errBroken = errors.New("the store failed")

// testing.T and rapid.T.
type failer interface {
	require.TestingT
	Helper()
}

// fakeNode is a Node, and a Peer of the others: real replicas, in memory, under one lock, and homes that only say what they were asked to write.
type fakeNode struct {
	*Collector
	id      uint16
	engine  engine.Engine
	others  map[uint16]*fakeNode // this one, too
	metrics metrics.Node
	busy    atomic.Bool

	commits     atomic.Int64
	uncommitted error // what comes of commits
	short       error // of what there is no room for

	down   atomic.Bool
	loses  atomic.Bool // the objects of its next answer
	before func(protocol.Method)
	most   atomic.Int64 // how many calls it answered at the same time
	open   atomic.Int64

	mu        sync.Mutex
	acceptors map[uint16]*register.Acceptor
	configs   map[uint16]*register.Config
	leader    uint16
	refuses   bool // its homes write nothing
	wrote     map[string]int
	wrong     error // what the store says
	failed    error
	done      []change.SlotEpoch // what was reported
}

// newFakes returns nodes of which the old ones hold the slot, which is to be next's.
func newFakes(old, next []uint16) map[uint16]*fakeNode {
	nodes := map[uint16]*fakeNode{}
	for _, id := range slices.Concat(old, next) {
		if nodes[id] != nil {
			continue
		}
		n := &fakeNode{id: id, engine: memory.New(), others: nodes, leader: old[0], wrote: map[string]int{},
			acceptors: map[uint16]*register.Acceptor{}, configs: map[uint16]*register.Config{}}
		n.Collector = New(n, Options{Done: n.isDone, Logger: slog.New(slog.DiscardHandler), Metrics: &n.metrics})
		nodes[id] = n
	}
	learn(nodes, slot, epoch, old, next)
	return nodes
}

// learn tells nodes who holds a slot.
func learn(nodes map[uint16]*fakeNode, slot uint16, epoch uint64, old, next []uint16) {
	config := register.NewConfig(epoch, old, next)
	for _, n := range nodes {
		n.mu.Lock()
		n.configs[slot] = config
		n.mu.Unlock()
	}
}

func (n *fakeNode) isDone(slots []change.SlotEpoch) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done = append(n.done, slots...)
}

// reported returns what was reported.
func (n *fakeNode) reported() []change.SlotEpoch {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.done)
}

// put lets the node hold a record.
func (n *fakeNode) put(t failer, key string, v record.Version, st record.State) {
	t.Helper()
	require.NoError(t, n.engine.Put(slot, []byte(key), record.Record{Version: v, State: st}))
}

// holds returns the versions that the node holds, by key.
func (n *fakeNode) holds(t failer) map[string]record.Version {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	versions := map[string]record.Version{}
	require.NoError(t, n.engine.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
		versions[string(key)] = rec.Version
		return true
	}))
	return versions
}

// meta is what the node holds of the slot as a whole.
func (n *fakeNode) meta(t failer) record.SlotMeta {
	t.Helper()
	meta, err := n.engine.Slot(slot)
	require.NoError(t, err)
	return meta
}

// written returns the keys that the node's home was asked to write, sorted.
func (n *fakeNode) written() (keys []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key := range n.wrote {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// collectNow collects the slot as far as that works at the first attempt, without Run.
func (n *fakeNode) collectNow() error {
	r := newRun(n.Collector, slot, epoch, time.Now())
	defer r.end()
	return r.collect(r.life)
}

// running runs the node's Collector until the test ends.
func (n *fakeNode) running(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { n.Run(ctx) })
	t.Cleanup(func() { cancel(); wait.Wait() })
}

// version is one of few.
func version(seq uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: 1, Incarnation: record.NewIncarnation(1, 1)}, Seq: seq}
}

func text(s string) record.State { return record.State{Type: record.String, Value: []byte(s)} }

func (n *fakeNode) Self() uint16                    { return n.id }
func (n *fakeNode) Committed(context.Context) error { n.commits.Add(1); return n.uncommitted }
func (n *fakeNode) Busy() bool                      { return n.busy.Load() }
func (n *fakeNode) Room() error                     { return n.short }
func (n *fakeNode) Failed() bool                    { n.mu.Lock(); defer n.mu.Unlock(); return n.failed != nil }
func (n *fakeNode) Lock(slot uint16) Slot           { n.mu.Lock(); return &fakeSlot{n, slot} }
func (n *fakeNode) Peer(member uint16) Peer {
	if n.others[member] == nil || member == n.id {
		return nil
	}
	return n.others[member]
}

func (n *fakeNode) Name() string        { return fmt.Sprint("node-", n.id) }
func (n *fakeNode) Alive() bool         { return !n.down.Load() }
func (n *fakeNode) Unreachable() string { return "down" }

func (n *fakeNode) Ask(ctx context.Context, method protocol.Method, payload []byte) ([]byte, error) {
	reply, _, err := n.AskObjects(ctx, method, payload)
	return reply, err
}

func (n *fakeNode) AskObjects(ctx context.Context, method protocol.Method, payload []byte) ([]byte, protocol.Objects, error) {
	open := n.open.Add(1)
	defer n.open.Add(-1)
	for most := n.most.Load(); open > most && !n.most.CompareAndSwap(most, open); most = n.most.Load() {
	}
	if n.before != nil {
		n.before(method)
	}
	if n.down.Load() {
		return nil, nil, errors.New("the connection is lost")
	}
	var reply []byte
	var err error
	objects := protocol.Objects{}
	switch method {
	case protocol.MethodShow:
		reply, err = n.AnswerShow(payload)
	case protocol.MethodFetch:
		loses := n.loses.Swap(false)
		reply, err = n.AnswerFetch(payload, func(s *record.State) uint64 {
			if s.Object == nil {
				return 0
			}
			id := uint64(len(objects) + 1)
			objects[id] = record.State{Type: s.Type, Object: s.Object}
			return id
		})
		if loses {
			clear(objects)
		}
	case protocol.MethodAgain:
		reply, err = n.AnswerAgain(ctx, payload)
	}
	return reply, objects, err
}

type fakeSlot struct {
	node *fakeNode
	slot uint16
}

// fakeStore is an engine as a replica sees it.
type fakeStore struct {
	engine.Engine
	node *fakeNode
}

func (s fakeStore) Names(uint16, database.ID, func([]byte) bool) error {
	panic("nobody reads all keys here")
}

func (s fakeStore) Stage(slot uint16, version record.Version, changes []record.Change) error {
	if s.node.wrong != nil {
		return s.node.wrong
	}
	for i := range changes {
		if err := s.Put(slot, changes[i].Key, record.Record{Version: version, State: changes[i].State}); err != nil {
			return err
		}
	}
	return nil
}

func (s *fakeSlot) Joint(epoch uint64) (*register.Config, error) {
	n := s.node
	config := n.configs[s.slot]
	if config.Epoch() != epoch || !config.Joint() {
		return nil, fmt.Errorf("slot %d: %w", s.slot, ErrOtherEpoch)
	}
	if n.acceptors[s.slot] == nil {
		a, err := register.NewAcceptor(s.slot, fakeStore{n.engine, n}, nil)
		if err != nil {
			return nil, err
		}
		n.acceptors[s.slot] = &a
	}
	var w register.Write
	if !s.Acceptor().Adopt(epoch, &w) {
		return nil, ErrOtherEpoch
	}
	return config, s.Wrote(&w)
}

func (s *fakeSlot) Acceptor() *register.Acceptor { return s.node.acceptors[s.slot] }
func (s *fakeSlot) Wrote(w *register.Write) error {
	return s.Acceptor().Persisted(w, w.To(fakeStore{s.node.engine, s.node}))
}

func (s *fakeSlot) Scan(from, end engine.Position, enough func() bool, visit func(engine.Position, []byte, record.Record)) (engine.Position, error) {
	next, last := end, engine.EndPosition
	return next, s.node.engine.Scan(s.slot, from, func(pos engine.Position, key []byte, rec record.Record) bool {
		if pos >= end {
			return false
		}
		if pos != last && enough() {
			next = pos
			return false
		}
		last = pos
		visit(pos, key, rec)
		return true
	})
}

func (s *fakeSlot) Fail(err error) {
	if !errors.Is(err, register.ErrNoRoom) {
		s.node.failed = err
	}
}
func (s *fakeSlot) Leader() uint16 { return s.node.leader }
func (s *fakeSlot) Again(key []byte, answered func(done bool)) {
	if s.node.refuses {
		answered(false)
		return
	}
	s.node.wrote[string(key)]++
	answered(true)
}
func (s *fakeSlot) Unlock() { s.node.mu.Unlock() }

// soon is how long something may take that happens at once.
const soon = 10 * time.Second
