package disk

import (
	"context"
	"fmt"
	"time"

	"github.com/quolldb/quoll/node/engine"
)

// flushRetry is the pause after a flush that failed.
const flushRetry = time.Second

// flusher writes what has changed to the store, when it is enough or has waited for long, until
// ctx ends.
func (e *Engine) flusher(ctx context.Context) {
	timer := time.NewTimer(e.opt.FlushInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.flushNow:
		case <-timer.C:
		}
		timer.Reset(e.opt.FlushInterval)
		for ctx.Err() == nil {
			err := e.flushIfRoom(ctx)
			e.report(err)
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(flushRetry):
			}
		}
	}
}

// report logs the first of a row of failures, and that it is over.
func (e *Engine) report(err error) {
	former := e.lagging.Load()
	switch {
	case err != nil && former == nil:
		e.log.Error("what has changed cannot be written to the store; it is in the journal, and is tried again", "err", err)
	case err == nil && former != nil:
		e.log.Info("what has changed is written to the store again")
	}
	if err == nil {
		e.lagging.Store(nil)
		return
	}
	e.lagging.Store(&err)
}

// flushIfRoom flushes unless the disk is so full that the store could hit its end.
func (e *Engine) flushIfRoom(ctx context.Context) error {
	if e.journal.Last() == e.journal.Checkpointed() && !e.sweeping() {
		return nil
	}
	e.flushes.Lock()
	defer e.flushes.Unlock()
	if free := e.freeSpace(); free < e.floor() {
		return fmt.Errorf("%w: %s is left on the disk, and the store may need %s to work", engine.ErrFull, size(free), size(e.floor()))
	}
	if err := e.flush(ctx); err != nil {
		return err
	}
	e.wake(e.evictNow)
	if err := e.sweepOrphans(); err != nil {
		return err
	}
	if err := e.sweepParts(ctx); err != nil {
		return err
	}
	return e.sweep(ctx)
}

// flush writes what has changed to the store, and if that is everything, lets the journal forget it. Objects wait until the journal has WaitSize:
// a part that has changed many times is written once. It does not stop when ctx ends, but hurries then, and nothing waits.
func (e *Engine) flush(ctx context.Context) error {
	if err := e.broken(); err != nil {
		return err
	}
	until, logged := e.journal.Last(), e.logged.Load()
	if err := e.journal.Sync(context.Background()); err != nil { // before the store is said to have it
		return err
	}
	e.unflushed.Store(0)
	b := batch{engine: e, ctx: ctx, waits: ctx.Err() == nil && logged <= e.opt.WaitSize}
	for i := range e.slots {
		if err := b.slot(&e.slots[i]); err != nil {
			return err
		}
	}
	if err := b.write(); err != nil {
		return err
	}
	if b.waited > 0 {
		e.kept.Store(logged)
		return nil
	}
	if err := e.forget(until); err != nil {
		return err
	}
	e.kept.Store(0)
	e.logged.Add(-logged)
	return nil
}

// forget lets the journal forget what has been written to the store: everything up to a number.
func (e *Engine) forget(until uint64) error {
	if err := e.mark(markApplied, until); err != nil {
		return err
	}
	if err := e.sync(); err != nil {
		return err
	}
	return e.journal.Checkpoint(until)
}
