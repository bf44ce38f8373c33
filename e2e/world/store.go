package world

import (
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/engine/pebble"
	"github.com/quolldb/quoll/ring/change"
)

// store is what is left of a node while it does not run.
type store interface {
	// open says to a node that is about to start what it has.
	open(opt *node.Options) error
	// crash is told before the process ends that nothing that it does from now on counts.
	crash(how hostState)
	// disk returns what may be wrong with the disk. It makes a difference for an engine on disk only.
	disk() *diskFaults
	// Generation tells lives of what is left from others.
	Generation() uint64
	// ring returns the document of the ring that the node is part of, nil before there is one.
	ring() *change.Document
	// reader returns the engine, to be read while nothing moves.
	reader() engine.Engine
	// end is called once, after the node's end.
	end() error
}

func newStore(engine string, generation uint64, h *holder) store {
	if engine != "memory" {
		return newDiskStore(generation, h, engine == "pebble")
	}
	return newMemoryStore(generation, h)
}

// memoryStore is an engine in memory that outlives its nodes, as if it were on a disk for which writing takes no time.
type memoryStore struct {
	identity
	engine *memory.Engine
	holder *holder
}

func newMemoryStore(generation uint64, h *holder) *memoryStore {
	s := &memoryStore{engine: memory.New(), holder: h}
	s.begin(generation, h)
	return s
}

func (s *memoryStore) open(opt *node.Options) error {
	s.resume()
	opt.Engine, opt.EngineName, opt.Identity, opt.OpenLog = survivor{s.engine, s.holder}, "memory", &s.identity, s.openLog
	return nil
}

func (s *memoryStore) crash(how hostState)    { s.crashLog(how) }
func (s *memoryStore) ring() *change.Document { return s.Ring() }
func (s *memoryStore) reader() engine.Engine  { return s.engine }
func (s *memoryStore) end() error             { return s.engine.Close() }

// diskStore is the engine on disk, on volumes in memory: one for the journal and, if they are not Pebble's, the records, and one for Pebble's tables.
type diskStore struct {
	identity
	volume, tables *volume
	engine         *disk.Engine // of the last life
	pebble         bool
	holder         *holder
}

func newDiskStore(generation uint64, h *holder, pebble bool) *diskStore {
	s := &diskStore{holder: h, pebble: pebble}
	s.begin(generation, h)
	s.volume = newVolume(&s.faults, rand.New(rand.NewPCG(generation, 2)))
	s.tables = newVolume(&s.faults, rand.New(rand.NewPCG(generation, 3)))
	return s
}

// The sizes are such that a few seconds of a world fill segments, have tables written to the store, and entries evicted.
func (s *diskStore) open(opt *node.Options) error {
	e, err := s.openEngine(disk.Options{Dir: "store", Journal: "journal", System: s.volume, MustExist: s.engine != nil,
		Cache: 64 << 10, SegmentSize: 128 << 10, MemTable: 64 << 10, FlushSize: 64 << 10, Reserve: 1 << 20,
		FlushInterval: time.Second, CollectInterval: time.Second, CollectRest: time.Second,
		Apply: datatype.Apply, Live: datatype.Live, Assemble: datatype.Assemble, PartsFrom: 1, Logger: opt.Logger})
	if err != nil {
		return err
	}
	s.engine = e
	s.resume()
	opt.Engine, opt.EngineName, opt.Fsync, opt.Identity, opt.OpenLog = watchDisk(e, s.holder), "disk", "always", &s.identity, s.openLog
	return nil
}

func (s *diskStore) openEngine(opt disk.Options) (*disk.Engine, error) {
	if s.pebble {
		return pebble.OpenOn(tables{files{s.tables}}, opt)
	}
	return disk.Open(opt, s.volume.kind())
}

func (s *diskStore) crash(how hostState) {
	s.holder.end()
	s.crashLog(how)
	if how == silent {
		s.volume, s.tables = s.volume.afterPowerCut(), s.tables.afterPowerCut()
	} else {
		s.volume, s.tables = s.volume.afterKill(), s.tables.afterKill()
	}
}

func (s *diskStore) reader() engine.Engine { return s.engine }
func (s *diskStore) end() error            { return nil }

// identity is what a node keeps of itself (membership.Identity), without a directory.
type identity struct {
	generation uint64
	faults     diskFaults
	replicas   *replicas

	mu    sync.Mutex
	ended bool // the process has: nothing that it does from now on counts
	saved *change.Document
	log   *volume // how the node votes on changes of the ring,
	begun bool    // once it may have
}

func (i *identity) begin(generation uint64, h *holder) {
	i.generation, i.replicas = generation, h.replicas
	i.faults.heal()
	i.log = newVolume(&i.faults, rand.New(rand.NewPCG(generation, 4)))
}

// resume begins another process.
func (i *identity) resume() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = false
}

func (i *identity) Generation() uint64 { return i.generation }
func (i *identity) LostState() string  { return "" }
func (i *identity) Restored() string   { return "" }
func (i *identity) Present() error     { return nil }

func (i *identity) ring() *change.Document { return i.Ring() }

func (i *identity) disk() *diskFaults { return &i.faults }

func (i *identity) Ring() *change.Document {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.saved
}

func (i *identity) SaveRing(doc change.Document) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		return os.ErrClosed
	}
	i.replicas.learned(doc)
	i.saved = &doc
	return nil
}
