package badger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"golang.org/x/sys/unix"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/journal"
)

// ErrFormat is returned (wrapped) by Open for a store of a newer format.
var ErrFormat = errors.New("badger: the store was written by a newer version of Quoll")

// Open opens an engine, or makes one. An error says what is wrong with which part, and
// nothing has been changed then but for what a torn end of a log needs.
func Open(opt Options) (*Engine, error) {
	for _, dir := range []string{opt.Dir, opt.Journal} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if err := opt.setDefaults(); err != nil {
		return nil, err
	}
	e := &Engine{opt: opt, log: opt.Logger, flushNow: make(chan struct{}, 1), evictNow: make(chan struct{}, 1)}
	e.space.usage.Store(&engine.Usage{})
	for i := range e.slots {
		e.slots[i].number = uint16(i)
	}
	if free, least := e.freeSpace(), e.leastSpace(); free < least {
		return nil, fmt.Errorf("%w: only %s is free on the disk of %s; free some, %s at least, and start again", engine.ErrFull, size(free), opt.Dir, size(least))
	}
	if err := e.openBadger(); err != nil {
		return nil, fmt.Errorf("the store in %s: %w", opt.Dir, err)
	}
	if err := e.openJournal(); err != nil {
		return nil, errors.Join(err, e.db.Close())
	}
	e.measure()
	e.start()
	return e, nil
}

// openBadger opens Badger, after every table was verified.
func (e *Engine) openBadger() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: badger: %v", engine.ErrCorrupt, p)
		}
	}()
	if e.opt.MustExist {
		if _, err := os.Stat(e.opt.Dir + "/MANIFEST"); err != nil {
			return fmt.Errorf("%w: what was there is missing: %w", engine.ErrCorrupt, err)
		}
	}
	if err := verify(e.opt.Dir); err != nil {
		return err
	}
	if err := removeEmpty(e.opt.Dir); err != nil {
		return err
	}
	e.db, err = badger.Open(badger.DefaultOptions(e.opt.Dir).
		WithLogger(logger{e.log}).
		// Nobody waits for it, but the order matters: a table or a look-up must not refer to a value
		// that a power cut takes, nor a file be removed before what was taken out of it is on disk.
		WithSyncWrites(true).
		WithDetectConflicts(false).
		WithNumVersionsToKeep(1).
		WithCompression(options.None).
		WithMemTableSize(e.opt.MemTable).
		WithNumMemtables(2).
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(8).
		WithNumCompactors(2).
		WithBaseLevelSize(4 * e.opt.MemTable).
		WithBlockCacheSize(0). // the slots' tables are the cache
		WithValueThreshold(largeValue).
		WithValueLogFileSize(e.opt.ValueFile).
		WithVerifyValueChecksum(true).
		// Badger says "not found" where a block is damaged. All have been verified; what is
		// damaged later is noticed by the records' checksums.
		WithChecksumVerificationMode(options.NoVerification))
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS), errors.Is(err, unix.ENOSPC):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	}
	return nil
}

// openJournal repeats what Badger may not have.
func (e *Engine) openJournal() error {
	found, err := e.checkFormat()
	if err != nil {
		return fmt.Errorf("the store in %s: %w", e.opt.Dir, err)
	}
	applied, _, err := e.marked(markApplied)
	if err != nil {
		return fmt.Errorf("the store in %s: %w", e.opt.Dir, err)
	}
	counted, ok, err := e.marked(markCounted)
	if err != nil {
		return fmt.Errorf("the store in %s: %w", e.opt.Dir, err)
	}
	if err := e.lookForLarge(); err != nil {
		return fmt.Errorf("the store in %s: %w: %w", e.opt.Dir, engine.ErrCorrupt, err)
	}
	replayed := 0
	if err := e.readSlotStates(false); err != nil {
		return fmt.Errorf("the store in %s: %w", e.opt.Dir, err)
	}
	for i := range e.slots {
		s := &e.slots[i]
		if s.generation > 0 {
			e.litter(s)
		}
		if s.whole = !found; s.whole { // nothing is nowhere
			s.reached, s.counted = engine.EndPosition, engine.EndPosition
		}
	}
	e.journal, err = journal.Open(journal.Options{Dir: e.opt.Journal, SegmentSize: e.opt.SegmentSize, Interval: e.opt.Interval,
		Spare:     int(lagMost * e.opt.FlushSize / e.opt.SegmentSize),
		MustExist: e.opt.MustExist || found, Logger: e.log}, func(seq uint64, op []byte) error {
		replayed++
		return e.replay(seq, op)
	})
	if err != nil {
		return fmt.Errorf("the journal in %s: %w", e.opt.Journal, err)
	}
	if last, given := e.journal.Last(), e.journal.Checkpointed(); applied < given || applied > last {
		err := fmt.Errorf("%w: the store in %s has everything up to number %d, the journal in %s from %d to %d: files of one of them are lost, "+
			"or they are not of the same node", engine.ErrCorrupt, e.opt.Dir, applied, e.opt.Journal, given, last)
		return errors.Join(err, e.journal.Close())
	}
	if ok && replayed == 0 && counted == e.journal.Last() {
		return e.readSlotStates(true)
	}
	return nil
}

// checkFormat reports whether there was a store of this format before.
func (e *Engine) checkFormat() (found bool, err error) {
	version, found, err := e.marked(markFormat)
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	case found && version > format:
		return false, fmt.Errorf("%w: its format is %d, this one knows %d: run the newer version", ErrFormat, version, format)
	case found && version < format:
		return false, fmt.Errorf("badger: the store was written by a version before the first release (format %d, this one reads %d): begin with an empty directory", version, format)
	case found:
		return true, nil
	case e.opt.MustExist:
		return false, fmt.Errorf("%w: it is empty, and should not be", engine.ErrCorrupt)
	}
	if err := e.mark(markFormat, format); err != nil {
		return false, err
	}
	return false, e.sync()
}

// start starts what runs beside the calls.
func (e *Engine) start() {
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	for _, run := range []func(context.Context){e.flusher, e.evictor, e.readSlots, e.watch, e.collector} {
		e.wait.Go(func() { run(ctx) })
	}
}

// logger passes on what Badger says, most of which is of no interest.
type logger struct{ log *slog.Logger }

func (l logger) say(level slog.Level, format string, args []any) {
	l.log.Log(context.Background(), level, "badger: "+strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (l logger) Errorf(format string, args ...any)   { l.say(slog.LevelError, format, args) }
func (l logger) Warningf(format string, args ...any) { l.say(slog.LevelWarn, format, args) }
func (l logger) Infof(format string, args ...any)    { l.say(slog.LevelDebug, format, args) }
func (l logger) Debugf(string, ...any)               {}
