package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/node/datadir"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/badger"
	"github.com/quolldb/quoll/node/engine/memory"
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
		s.engine = memory.New()
		return s, nil
	}
	dir, err := datadir.Open(datadir.Options{Path: cfg.Data, Cluster: cfg.ClusterName, Node: cfg.Name, Fsync: cfg.Fsync.Mode(), Logger: log})
	if err != nil {
		return nil, err
	}
	s.dir = dir
	s.engine, err = badger.Open(badger.Options{Dir: dir.BadgerDir(), Journal: dir.JournalDir(), MustExist: !dir.Fresh(),
		Interval: cfg.Fsync.Interval(), Cache: int64(cfg.Cache), Logger: log.With("component", "engine", "node", cfg.Name)})
	if err != nil {
		return nil, errors.Join(err, dir.Close(false))
	}
	return s, nil
}

// start starts a node on the store. If that fails the store is closed.
func (s *store) start(opt node.Options) (*node.Node, error) {
	opt.Engine, opt.EngineName = s.engine, s.name
	if s.dir != nil {
		opt.Identity, opt.Fsync, opt.HintDir = s.dir, s.fsync.String(), s.dir.HintsDir()
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
