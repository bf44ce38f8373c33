package disk

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
	"github.com/quolldb/quoll/node/engine/journal"
	"github.com/quolldb/quoll/node/engine/table"
)

// ErrFormat is returned (wrapped) by Open for a store of a newer format.
var ErrFormat = errors.New("the store was written by a newer version of Quoll")

// Open opens an engine on a store of a kind, or makes one. An error says what is wrong with which part, and
// nothing has been changed then but for what a torn end of a log needs.
func Open(opt Options, kind Kind) (*Engine, error) {
	if opt.System == nil {
		opt.System = system{}
	}
	for _, dir := range []string{opt.Dir, opt.Journal} {
		if err := opt.System.MakeDirs(dir); err != nil {
			return nil, err
		}
	}
	if err := opt.setDefaults(); err != nil {
		return nil, err
	}
	e := &Engine{opt: opt, kind: kind, log: opt.Logger, arena: arena.New(), flushNow: make(chan struct{}, 1), evictNow: make(chan struct{}, 1),
		reportNow: make(chan struct{}, 1)}
	e.space.usage.Store(&engine.Usage{})
	runtime.AddCleanup(e, (*arena.Arena).Release, e.arena)
	for i := range e.slots {
		e.slots[i].number, e.slots[i].table = uint16(i), table.Make(e.arena)
	}
	if free, least := e.freeSpace(), e.leastSpace(); free < least {
		return nil, fmt.Errorf("%w: only %s is free on the disk of %s; free some, %s at least, and start again", engine.ErrFull, size(free), opt.Dir, size(least))
	}
	var err error
	if e.store, err = kind.Open(opt, e.fail); err != nil {
		return nil, advise(fmt.Errorf("the store in %s: %w", opt.Dir, err))
	}
	if err := e.openJournal(); err != nil {
		return nil, errors.Join(advise(err), e.store.Close())
	}
	e.measure()
	e.start()
	return e, nil
}

// advise says what can be done about damage, if the error is that and does not say it.
func advise(err error) error {
	if errors.Is(err, engine.ErrCorrupt) && !strings.Contains(err.Error(), engine.Advice) {
		return fmt.Errorf("%w; %s", err, engine.Advice)
	}
	return err
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
	e.unresolved = unresolved{}
	e.journal, err = journal.Open(journal.Options{Dir: e.opt.Journal, FS: e.opt.System.Journal(e.opt.Journal), SegmentSize: e.opt.SegmentSize, Interval: e.opt.Interval,
		Spare:     int((lagMost*e.opt.FlushSize + e.opt.WaitSize) / e.opt.SegmentSize),
		MustExist: e.opt.MustExist || found, Logger: e.log}, func(seq uint64, op []byte) error {
		replayed++
		e.logged.Add(int64(len(op)))
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
	if err := e.settleReplay(); err != nil {
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
	case found && version > formatParts:
		return false, fmt.Errorf("%w: its format is %d, this one knows %d: run the newer version", ErrFormat, version, formatParts)
	case found && version < format:
		return false, fmt.Errorf("the store was written by a version before the first release (format %d, this one reads %d): begin with an empty directory", version, format)
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
	for _, run := range []func(context.Context){e.flusher, e.evictor, e.readSlots, e.reporter, e.watch, e.collector} {
		e.wait.Go(func() { run(ctx) })
	}
}
