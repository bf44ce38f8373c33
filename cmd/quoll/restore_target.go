package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node/engine"
)

// restoreTarget is a data directory that is being made.
type restoreTarget struct {
	*store
	path   string
	totals engine.SlotStats // when it is closed
}

// remains are what an empty directory may have: the root of a file system, or a restore
// that failed, leaves them.
var remains = []string{"lost+found", "LOCK"}

// openTarget makes a data directory. Until it is closed in order nobody relies on what is in
// it: a node that is started on what a killed restore left finds it empty.
func openTarget(opt restoreOptions, log *slog.Logger) (*restoreTarget, error) {
	entries, err := os.ReadDir(opt.data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if !slices.Contains(remains, entry.Name()) {
			return nil, fmt.Errorf("%s is not empty, it has %q: a restore is made into a new directory only; give another --data", opt.data, entry.Name())
		}
	}
	cfg := config.DefaultNode()
	cfg.Name, cfg.ClusterName, cfg.Engine, cfg.Data = opt.name, opt.cluster, opt.engine, opt.data
	cfg.Fsync, cfg.Cache = config.Fsync(time.Second), 256*config.MiB // it is durable when it is closed
	s, err := openStore(cfg, log)
	if err != nil {
		return nil, err
	}
	if !s.dir.Fresh() { // somebody was quicker
		return nil, s.release(fmt.Errorf("%s is in use: a restore is made into a new directory only; give another --data", opt.data))
	}
	return &restoreTarget{store: s, path: opt.data}, nil
}

// close closes the directory, for a node to be started on it. If it was not filled or
// closed well it is emptied, while it is still locked, and the error returned.
func (t *restoreTarget) close(err error) error {
	if err == nil {
		t.totals, err = t.engine.Totals()
	}
	err = errors.Join(err, t.engine.Close())
	if err == nil {
		return t.dir.Close(true)
	}
	entries, _ := os.ReadDir(t.path) // what cannot be removed is told
	for _, entry := range entries {
		if !slices.Contains(remains, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(t.path, entry.Name())))
		}
	}
	return errors.Join(err, t.dir.Close(false))
}
