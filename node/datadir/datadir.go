// Package datadir keeps the data directory of a node: who it belongs to, which ring it
// is part of, and whether what the engine's files say can be relied on.
//
//	LOCK          locked for as long as a process uses the directory; names that process
//	node.json     the identity: cluster, node, generation, format
//	ring.json     the newest document of the ring that named the generation, once there is one
//	session.json  the last life: how it synced, on which boot of the machine, how it ended
//	journal/      the engine's write-ahead log
//	badger/       the engine's tables; with another engine pebble/
//	consensus/    the log of changes of the ring, in which this node may have a vote (package consensus)
//	hints/        which keys other nodes missed (package hint); nothing relies on it
//
// Every file is replaced as a whole (written beside it, synced, renamed, the directory
// synced) and ends with a checksum. A file that is damaged, or missing where there is data,
// is an error: a directory is never silently started anew.
//
// # When state is lost
//
// A node that votes must remember what it promised (R19). With fsync "always" whatever was
// promised is on disk. With "interval" it survives the process, but not the machine: a life that
// did not end in order, on another boot of the machine than this one, may have forgotten.
// Then the directory takes a new generation. The ring names the former one, so the node
// does not vote, now or after any later restart, until a later version of the ring names the new one.
//
// # Creation
//
// node.json is written last: without it there has been no life, and what is there of the
// rest is completed. Until the directory has been closed clean or a ring has been saved, which is
// before the first vote, the engine's files hold nothing that anybody relies on; what
// a first life left of them is removed (see Fresh).
package datadir

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/ring/change"
)

// What Options.Fsync may be.
const (
	// FsyncAlways: what is acknowledged is on disk.
	FsyncAlways = "always"
	// FsyncInterval: what is acknowledged is with the operating system.
	FsyncInterval = "interval"
)

// Options say which directory is opened, and by whom.
type Options struct {
	// Path is the directory. It is made, for its owner only, if it is not there.
	Path string
	// Cluster and Node name who opens it.
	Cluster, Node string
	// Engine is the store of the records: "badger" or "pebble".
	Engine string
	// Fsync is what the engine does in this life: FsyncAlways or FsyncInterval.
	Fsync string
	// BootID identifies the boot of the machine, empty for what the system says.
	BootID string
	Logger *slog.Logger
}

func (o *Options) check() error {
	switch {
	case o.Path == "" || o.Cluster == "" || o.Node == "":
		return errors.New("datadir: Path, Cluster and Node are required")
	case !slices.Contains(engines, o.Engine):
		return fmt.Errorf("datadir: Engine is %q, not one of %q", o.Engine, engines)
	case o.Fsync != FsyncAlways && o.Fsync != FsyncInterval:
		return fmt.Errorf("datadir: Fsync is %q, not %s or %s", o.Fsync, FsyncAlways, FsyncInterval)
	}
	return nil
}

// Identity says whose directory it is.
type Identity struct {
	// Format is that of the whole directory.
	Format  int    `json:"format"`
	Cluster string `json:"cluster"`
	Node    string `json:"node"`
	// Generation identifies one life of the data; see ring.Member.
	Generation uint64    `json:"generation"`
	Engine     string    `json:"engine"`
	Created    time.Time `json:"created"`
	// Restored identifies the backups that the data began with, "" if it began empty.
	Restored string `json:"restored,omitempty"`
}

func (i Identity) valid() bool {
	return i.Cluster != "" && i.Node != "" && i.Engine != "" && i.Generation != 0
}

// Dir is a data directory in use. Its methods may be called from any goroutine.
type Dir struct {
	path string
	log  *slog.Logger
	lock *os.File
	// before is called ahead of every change to the disk, by tests.
	before func(step string) error

	fresh bool
	boot  string // "" if it is not known

	mu       sync.Mutex
	closed   bool
	identity Identity
	session  session
	ring     *change.Document // nil until one is saved
}

// Open makes the directory if it is not there, locks it and checks it. From then on this
// life counts as not ended in order until Close(true). The error wraps ErrLocked,
// ErrOtherCluster or another of this package's errors, and says what to do.
func Open(opt Options) (*Dir, error) { return open(opt, nil) }

func open(opt Options, before func(string) error) (*Dir, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	d := &Dir{path: filepath.Clean(opt.Path), log: opt.Logger, before: before, boot: opt.BootID}
	if d.log == nil {
		d.log = slog.Default()
	}
	d.log = d.log.With("component", "datadir", "node", opt.Node, "data", d.path)
	if d.boot == "" {
		d.boot = systemBoot()
	}
	if err := d.begin(opt); err != nil {
		d.unlock()
		return nil, d.explain(err)
	}
	return d, nil
}

// begin begins a life: it finds out what is there, and creates it or carries it on.
func (d *Dir) begin(opt Options) error {
	if err := d.makeDir(d.path); err != nil {
		return err
	}
	if err := d.refuseForeign(); err != nil {
		return err
	}
	if err := d.takeLock(); err != nil {
		return err
	}
	former, found, err := d.readAll()
	if err != nil {
		return err
	}
	d.session = session{Format: format, Boot: d.boot, Fsync: opt.Fsync}
	if !found {
		return d.create(opt)
	}
	if err := d.belongsTo(opt); err != nil {
		return err
	}
	return d.resume(former)
}

// create makes a new directory, or completes one.
func (d *Dir) create(opt Options) error {
	d.fresh = true
	d.identity = Identity{Format: format, Cluster: opt.Cluster, Node: opt.Node, Generation: newGeneration(),
		Engine: opt.Engine, Created: time.Now().UTC().Truncate(time.Second)}
	if err := d.prepareEngine(); err != nil {
		return err
	}
	if err := d.write(sessionFile, d.session); err != nil {
		return err
	}
	return d.write(nodeFile, d.identity)
}

// resume carries on after a former life.
func (d *Dir) resume(former session) error {
	d.session.Ring = d.ring != nil
	d.session.Data = former.Data || d.session.Ring
	d.session.Log = former.Log
	d.fresh = !d.session.Data
	if err := d.prepareEngine(); err != nil {
		return err
	}
	if former.unsynced() { // what the system still holds is on disk before this life says that it is
		if err := d.syncEngine(); err != nil {
			return err
		}
	}
	if err := d.judge(former); err != nil {
		return err
	}
	return d.write(sessionFile, d.session)
}

func newGeneration() uint64 { return rand.Uint64() | 1 }

// Identity returns whose directory it is.
func (d *Dir) Identity() Identity {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.identity
}

// Generation returns the generation of the directory's data.
func (d *Dir) Generation() uint64 { return d.Identity().Generation }

// Restored returns what SetRestored has set.
func (d *Dir) Restored() string { return d.Identity().Restored }

// SetRestored notes which backups the data began with, durably. It belongs before the first
// clean Close.
func (d *Dir) SetRestored(backups string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	identity := d.identity
	identity.Restored = backups
	if err := d.write(nodeFile, identity); err != nil {
		return d.explain(err)
	}
	d.identity = identity
	return nil
}

// Fresh reports whether nobody relies on anything in the directory yet: the engine may create
// its files, and finds none. Otherwise they must exist.
func (d *Dir) Fresh() bool { return d.fresh }

// LostState returns why this process has not the state of the directory's former life, in one
// sentence, or "" if it has.
func (d *Dir) LostState() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session.Lost
}

// Path returns the directory's path, as it was given.
func (d *Dir) Path() string { return d.path }

// JournalDir returns the directory of the engine's log, which exists.
func (d *Dir) JournalDir() string { return filepath.Join(d.path, journalDir) }

// StoreDir returns the directory of the engine's tables, which exists.
func (d *Dir) StoreDir() string { return filepath.Join(d.path, d.identity.Engine) }

// engineDirs are what the engine keeps in the directory.
func (d *Dir) engineDirs() []string { return []string{journalDir, d.identity.Engine} }

// HintsDir returns the directory of hints, which need not exist.
func (d *Dir) HintsDir() string { return filepath.Join(d.path, hintsDir) }

// Close ends the life and unlocks the directory. clean says that everything is on
// disk: the engine was closed without an error. A second Close does nothing.
func (d *Dir) Close(clean bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	defer d.unlock()
	if !clean {
		return nil
	}
	s := d.session
	s.Clean, s.Data = true, true
	if err := d.write(sessionFile, s); err != nil {
		return d.explain(err)
	}
	return nil
}
