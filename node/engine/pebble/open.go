package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
)

const mib = 1 << 20

// whole is larger than any value: all are with their records.
const whole = 1 << 40

// Open opens an engine, or makes one; see disk.Open.
func Open(opt disk.Options) (*disk.Engine, error) { return OpenOn(vfs.Default, opt) }

// OpenOn opens an engine whose store is on a file system. Where its journal is the options say.
func OpenOn(files vfs.FS, opt disk.Options) (*disk.Engine, error) {
	return disk.Open(opt, disk.Kind{
		Name: "pebble", ApartFrom: whole, Least: least, Floor: least,
		Open: func(opt disk.Options, fail func(error)) (disk.Store, error) { return openStore(files, opt, fail) },
	})
}

// least is what is needed to start: the journal's next file, and Pebble's list of files.
func least(opt *disk.Options) int64 { return opt.SegmentSize + 2*mib }

// openStore opens Pebble.
func openStore(files vfs.FS, opt disk.Options, fail func(error)) (_ disk.Store, err error) {
	s := &store{dir: opt.Dir, guard: newGuard(fail), log: opt.Logger}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.files = &guarded{FS: files, guard: s.guard}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: pebble: %v", engine.ErrCorrupt, p)
		}
		if err != nil {
			s.cancel()
			err = errors.Join(err, s.files.unlock())
		}
	}()
	if err := probe(files, opt.Dir); err != nil {
		return nil, err
	}
	if opt.MustExist {
		if names, err := files.List(opt.Dir); err == nil && len(names) == 0 {
			return nil, fmt.Errorf("%w: nothing is there", engine.ErrCorrupt)
		}
	}
	s.db, err = pebble.Open(opt.Dir, s.options(opt))
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), shortage(err):
		return nil, err
	default:
		return nil, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	}
	s.guard.set(func() { s.guard.opening = false })
	return s, nil
}

// probe looks whether files can be made and opened, before Pebble does what it cannot go back from.
func probe(files vfs.FS, dir string) error {
	probed := files.PathJoin(dir, "probe.tmp")
	file, err := files.Create(probed, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Close(), files.Remove(probed)); err != nil {
		return err
	}
	names, err := files.List(dir)
	for _, name := range names {
		name = files.PathJoin(dir, name)
		if info, err := files.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue
		}
		file, err := files.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			return fmt.Errorf("every file in it has to be readable and writable for this user: %w", err)
		}
		file.Close()
	}
	return err
}

func (s *store) options(opt disk.Options) *pebble.Options {
	options := &pebble.Options{
		FS:                 s.files,
		ErrorIfNotExists:   opt.MustExist,
		FormatMajorVersion: pebble.FormatTableFormatV6,
		DisableWAL:         true, // the journal is the log
		MemTableSize:       uint64(opt.MemTable),
		// The slots' tables are the cache; this one is for the tables' indexes.
		CacheSize:                   max(8*mib, opt.Cache/16),
		MemTableStopWritesThreshold: 3,
		L0CompactionThreshold:       2,
		// The flusher waits for nobody: it is slowed down by what it does to the disk.
		L0StopWritesThreshold:      1000,
		LBaseMaxBytes:              4 * opt.MemTable,
		CompactionConcurrencyRange: func() (int, int) { return 1, 2 },
		Logger:                     logger{s.log, s.guard},
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) {
				s.log.Warn("pebble: what it does in the background failed, and is tried again", "err", err)
			},
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				s.damaged.Store(true)
				s.log.Error("pebble: a table is damaged", "file", info.Path, "err", info.Details)
			},
		},
	}
	for i := range options.Levels {
		options.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return options
}

// logger passes on what Pebble says, most of which is of no interest.
type logger struct {
	log   *slog.Logger
	guard *guard
}

func (l logger) say(level slog.Level, format string, args []any) {
	l.log.Log(context.Background(), level, "pebble: "+strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Infof implements pebble.Logger.
func (l logger) Infof(format string, args ...any) { l.say(slog.LevelDebug, format, args) }

// Errorf implements pebble.Logger.
func (l logger) Errorf(format string, args ...any) { l.say(slog.LevelWarn, format, args) }

// Fatalf implements pebble.Logger, and does not return, as Pebble demands. It ends the call that it was made for, or, in a goroutine
// of Pebble's, the engine, but never the process.
func (l logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("pebble: "+format, args...)
	if calledByUs() {
		panic(err)
	}
	l.guard.die(fmt.Errorf("%w: start this node again; if that does not help, %s", err, engine.Advice), true)
	select {}
}

// calledByUs reports whether a function of this package, which recovers, is below Pebble's on the stack.
func calledByUs() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, "/node/engine/pebble.") {
			return true
		}
		if !more {
			return false
		}
	}
}
