package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/datadir"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/decide"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/badger"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/engine/pebble"
)

// store is what a node keeps its records in, with the directory around it.
type store struct {
	name   string // of the engine
	fsync  config.Fsync
	engine engine.Engine
	dir    *datadir.Dir // nil: nothing is kept
	log    *slog.Logger // of the node
}

// openStore opens the store that cfg asks for.
func openStore(cfg config.Node, log *slog.Logger) (*store, error) {
	s := &store{name: cfg.Engine, fsync: cfg.Fsync, log: log.With("component", "node", "node", cfg.Name)}
	if cfg.Engine == config.Memory {
		e := memory.NewWithin(int64(cfg.Maxmemory))
		e.SetEviction(cfg.Evicts())
		s.engine = e
		s.log.Info("the data are in memory", "maxmemory", cfg.Maxmemory, "maxmemory-policy", cfg.MaxmemoryPolicy)
		return s, nil
	}
	dir, err := datadir.Open(datadir.Options{Path: cfg.Data, Cluster: cfg.ClusterName, Node: cfg.Name, Engine: cfg.Engine, Fsync: cfg.Fsync.Mode(), Logger: log})
	if err != nil {
		return nil, err
	}
	s.dir = dir
	s.engine, err = openOnDisk(cfg, disk.Options{MemTable: memTable(cfg.Memory), MaxDisk: int64(cfg.MaxDisk), Dir: dir.StoreDir(), Journal: dir.JournalDir(), MustExist: !dir.Fresh(),
		Interval: cfg.Fsync.Interval(), Cache: int64(cfg.Cache), Logger: log.With("component", "engine", "node", cfg.Name)})
	if err != nil {
		return nil, errors.Join(err, dir.Close(false))
	}
	return s, nil
}

// keptFiles is how many open files the store and the rest of the process are left.
func (s *store) keptFiles() int {
	if s.dir == nil {
		return keptFiles
	}
	return keptFiles + keptStoreFiles
}

// memTable is the size of the tables in memory that an engine on disk writes from, of which it has several, and as much again that is not
// written yet: less than it chooses by itself where there is little memory.
func memTable(memory config.Size) int64 {
	if memory == 0 || memory >= config.GiB {
		return 0
	}
	return int64(max(8*config.MiB, memory/32))
}

// openOnDisk opens an engine that keeps its records on disk.
func openOnDisk(cfg config.Node, opt disk.Options) (*disk.Engine, error) {
	opt.Apply, opt.Live, opt.Assemble = datatype.Apply, datatype.Live, datatype.Assemble
	if cfg.Engine == config.Pebble {
		return pebble.Open(opt)
	}
	return badger.Open(badger.Options{Mapped: int64(cfg.Memory / 8), Options: opt})
}

// start starts a node on the store. If that fails the store is closed.
func (s *store) start(opt node.Options) (*node.Node, error) {
	opt.Engine, opt.EngineName = s.engine, s.name
	if s.dir != nil {
		opt.Identity, opt.Fsync, opt.HintDir, opt.Data = s.dir, s.fsync.String(), s.dir.HintsDir(), s.dir.Path()
		opt.OpenLog = func() (consensus.Storage, error) { return decide.OpenLog(s.dir) }
	}
	n, err := node.Start(opt)
	if err != nil {
		return nil, s.release(err)
	}
	return n, nil
}

// release closes a store that no node runs on, because of an error, which it returns.
func (s *store) release(cause error) error {
	_ = s.finish(s.engine.Close()) // it has been logged, and is not the cause
	return cause
}

// stop stops the node that runs on the store, in order.
func (s *store) stop(n *node.Node) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return s.finish(n.Close(ctx))
}

// finish closes the directory after the engine has been closed with or without an error. The
// directory is clean if there was none.
func (s *store) finish(closing error) error {
	if s.dir != nil {
		closing = errors.Join(closing, s.dir.Close(closing == nil))
	}
	if closing != nil {
		s.log.Error("the store was not closed in order; the next start will check it", "err", closing)
	}
	return closing
}
