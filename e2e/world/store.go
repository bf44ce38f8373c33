package world

import (
	"sync"

	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/ring"
)

// store is what is left of a node while it does not run.
type store interface {
	// open says to a node that is about to start what it has.
	open(opt *node.Options) error
	// crash is told before the process ends that nothing that it does from now on counts.
	crash(how hostState)
	// ring returns the ring that the node is part of, nil before there is one.
	ring() *ring.Cluster
	// reader returns the engine, to be read while nothing moves.
	reader() engine.Engine
	// end is called once, after the node's end.
	end() error
}

// memoryStore is an engine in memory that outlives its nodes, as if it were on a disk for which writing takes no time.
type memoryStore struct {
	identity
	engine *memory.Engine
}

func newMemoryStore(generation uint64) *memoryStore {
	return &memoryStore{identity: identity{generation: generation | 1}, engine: memory.New()}
}

func (s *memoryStore) open(opt *node.Options) error {
	opt.Engine, opt.EngineName, opt.Identity = survivor{s.engine}, "memory", &s.identity
	return nil
}

func (s *memoryStore) crash(hostState)       {}
func (s *memoryStore) ring() *ring.Cluster   { return s.Ring() }
func (s *memoryStore) reader() engine.Engine { return s.engine }
func (s *memoryStore) end() error            { return s.engine.Close() }

// survivor is an engine whose content outlives Close.
type survivor struct{ *memory.Engine }

func (survivor) Close() error { return nil }

// identity is what a node keeps of itself (membership.Identity), without a directory.
type identity struct {
	generation uint64

	mu    sync.Mutex
	saved *ring.Cluster
}

func (i *identity) Generation() uint64 { return i.generation }
func (i *identity) LostState() string  { return "" }
func (i *identity) Restored() string   { return "" }
func (i *identity) Present() error     { return nil }

func (i *identity) Ring() *ring.Cluster {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.saved
}

func (i *identity) SaveRing(cluster ring.Cluster) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.saved = &cluster
	return nil
}
