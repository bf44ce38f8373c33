package disk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
	"github.com/quolldb/quoll/node/engine/journal"
)

// Engine is an engine.Engine on disk. Get and whatever looks a key up may read from the
// disk; nothing else blocks for longer than memory takes, but Close.
type Engine struct {
	opt     Options
	log     *slog.Logger
	kind    Kind
	store   Store
	journal *journal.Journal
	arena   *arena.Arena // the slots' tables' memory, which is freed with the Engine
	slots   [engine.Slots]slot

	memory      atomic.Int64 // what is in the slots' tables,
	unflushed   atomic.Int64 // what of it has changed since the last flush began
	logged      atomic.Int64 // how many bytes of operations the journal has that Open would repeat,
	kept        atomic.Int64 // and how many of them the store has but for the objects that wait
	large       atomic.Bool  // some values are apart from their records
	numbers     numbers      // of these; the flusher's
	orphansFrom []byte       // where sweepOrphans goes on; the flusher's
	parted      atomic.Bool  // some values are in parts
	straysFrom  []byte       // where sweepParts goes on,
	straysRest  int          // and after how many flushes; the flusher's
	ended       [][]byte     // what objects have left, see end; the flusher's
	garbage     atomic.Int64 // slots with records of former generations
	failed      atomic.Pointer[error]
	lagging     atomic.Pointer[error] // why flushing does not work at the moment
	space       space
	damage      damage

	flushes            sync.Mutex    // one flush at a time, and none during a sweep
	flushNow, evictNow chan struct{} // of capacity 1
	clock              clock         // the evictor's

	sources   sources       // of objects that are read when they are needed
	reads     sync.RWMutex  // held for reading by whoever reads them, guards shut
	shut      bool          // the store is closed, or about to be
	doubts    doubts        // what they could not read
	reportNow chan struct{} // of capacity 1

	unresolved unresolved // while the journal is repeated

	closed atomic.Bool
	cancel context.CancelFunc
	wait   sync.WaitGroup
}

var _ engine.Engine = (*Engine)(nil)

// take locks a slot for a call.
func (e *Engine) take(number uint16) (*slot, error) {
	if e.closed.Load() {
		return nil, engine.ErrClosed
	}
	if number >= engine.Slots {
		return nil, fmt.Errorf("%w: %d, the last is %d", engine.ErrSlot, number, engine.Slots-1)
	}
	s := &e.slots[number]
	s.mu.Lock()
	return s, nil
}

// Slot implements engine.Engine. It is in memory.
func (e *Engine) Slot(number uint16) (record.SlotMeta, error) {
	s, err := e.take(number)
	if err != nil {
		return record.SlotMeta{}, err
	}
	defer s.mu.Unlock()
	return s.meta, nil
}

// PutSlot implements engine.Engine.
func (e *Engine) PutSlot(number uint16, meta record.SlotMeta) error {
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := e.journalMeta(s, opMeta, meta); err != nil {
		return err
	}
	e.setMeta(s, meta)
	return nil
}

// Get implements engine.Engine. It reads from the disk what is not in memory.
func (e *Engine) Get(number uint16, key []byte) (record.Record, bool, error) {
	s, err := e.take(number)
	if err != nil {
		return record.Record{}, false, err
	}
	defer s.mu.Unlock()
	rec, found, err := e.get(s, key)
	rec.State.Value = s.lend(rec.State.Value)
	return rec, found, err
}

// Put implements engine.Engine.
func (e *Engine) Put(number uint16, key []byte, rec record.Record) error {
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	return e.put(s, key, rec)
}

// Change implements engine.Engine.
func (e *Engine) Change(number uint16, key []byte, rec record.Record, base record.Version, delta []byte) error {
	if e.opt.Apply == nil {
		return e.Put(number, key, rec)
	}
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	return e.putChange(s, key, rec, base, delta)
}

// Patch implements engine.Engine.
func (e *Engine) Patch(number uint16, key []byte, version, base record.Version, delta []byte) error {
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	return e.patch(s, key, version, base, delta)
}

// Delete implements engine.Engine.
func (e *Engine) Delete(number uint16, key []byte) error {
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	return e.remove(s, key)
}

// Clear implements engine.Engine. It takes constant time unless the slot may hold a record
// that is newer than the clear; then it reads the slot.
func (e *Engine) Clear(number uint16, meta record.SlotMeta) error {
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	survivors, err := e.survivors(s, meta)
	if err != nil {
		return err
	}
	if err := e.journalClear(s, meta, survivors); err != nil {
		return err
	}
	e.clear(s, meta, survivors)
	return nil
}

// Reset implements engine.Engine. It takes constant time.
func (e *Engine) Reset(number uint16, meta record.SlotMeta) error {
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := e.journalMeta(s, opReset, meta); err != nil {
		return err
	}
	e.clear(s, meta, nil)
	return nil
}

// Scan implements engine.Engine. It reads from the disk what is not in memory.
func (e *Engine) Scan(number uint16, from engine.Position, visit func(engine.Position, []byte, record.Record) bool) error {
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	return e.scan(s, from, visit)
}

// Expired implements engine.Engine. It reads the slot if something may have expired.
func (e *Engine) Expired(number uint16, now int64, visit func(key []byte) bool) (looked bool, err error) {
	s, err := e.take(number)
	if err != nil {
		return false, err
	}
	defer s.mu.Unlock()
	if s.counted == engine.EndPosition && (s.expiry == 0 || s.expiry > now) {
		return false, nil
	}
	next, complete := int64(0), true
	err = e.scan(s, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
		next = engine.Earlier(next, rec.State)
		complete = !rec.State.Live() || !rec.State.Expired(now) || visit(key)
		return complete
	})
	if err == nil && complete {
		s.expiry = next
	}
	return true, err
}

// Stats implements engine.Engine. After an unclean stop it may read the slot.
func (e *Engine) Stats(number uint16) (engine.SlotStats, error) {
	s, err := e.take(number)
	if err != nil {
		return engine.SlotStats{}, err
	}
	defer s.mu.Unlock()
	if err := e.countAll(s); err != nil {
		return engine.SlotStats{}, err
	}
	return s.counters.Load(), nil
}

// Leaves implements engine.Engine. After an unclean stop it may read the slot.
func (e *Engine) Leaves(number uint16) (engine.Leaves, error) {
	s, err := e.take(number)
	if err != nil {
		return engine.Leaves{}, err
	}
	defer s.mu.Unlock()
	if err := e.countAll(s); err != nil {
		return engine.Leaves{}, err
	}
	return s.counters.Leaves(), nil
}

// Correct implements engine.Engine. It changes nothing while the slot is being counted.
func (e *Engine) Correct(number uint16, stats engine.SlotStats, leaves engine.Leaves) error {
	s, err := e.take(number)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.counted == engine.EndPosition {
		s.counters.Replace(stats, leaves)
	}
	return nil
}

// Totals implements engine.Engine. It blocks nobody: writes that run at the same time may
// be counted in part, and after an unclean stop slots are left out that are not counted
// yet.
func (e *Engine) Totals() (engine.SlotStats, error) {
	if e.closed.Load() {
		return engine.SlotStats{}, engine.ErrClosed
	}
	var sum engine.SlotStats
	for i := range e.slots {
		sum.Merge(e.slots[i].counters.Load())
	}
	return sum, nil
}

// Commit implements engine.Engine. With Options.Interval it calls done when the journal's file
// has what was staged, which outlives the process but not the machine.
func (e *Engine) Commit(done func(error)) {
	if e.closed.Load() {
		done(engine.ErrClosed)
		return
	}
	if err := e.broken(); err != nil {
		done(err)
		return
	}
	e.journal.Commit(done)
}

// Sync implements engine.Syncer.
func (e *Engine) Sync() error {
	if e.closed.Load() {
		return engine.ErrClosed
	}
	if err := e.broken(); err != nil {
		return err
	}
	return e.journal.Sync(context.Background())
}

// fail notes an error after which nobody knows what is on the disk.
func (e *Engine) fail(err error) {
	if e.failed.CompareAndSwap(nil, &err) {
		e.log.Error("the store failed", "err", err)
	}
}

// broken returns the error that ended the engine, if any.
func (e *Engine) broken() error {
	if err := e.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// grow counts memory, and wakes the evictor when there is too much of it.
func (e *Engine) grow(bytes int64) {
	if e.memory.Add(bytes) > e.opt.Cache && bytes > 0 {
		e.wake(e.evictNow)
	}
}

// changed counts what has changed, and wakes the flusher when it is enough.
func (e *Engine) changed(bytes int64) {
	if e.unflushed.Add(bytes) > e.opt.FlushSize {
		e.wake(e.flushNow)
	}
}

func (e *Engine) wake(who chan struct{}) {
	select {
	case who <- struct{}{}:
	default: // it knows already
	}
}

// Close implements engine.Engine. It writes everything to the store, the counts too, so that the
// next start is quick.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return engine.ErrClosed
	}
	e.cancel()
	e.store.End()
	if errors.Is(e.broken(), engine.ErrGone) {
		e.store.Abandon() // what is under way there may wait for files that nobody can make
	}
	e.wait.Wait()
	err := e.broken()
	if err == nil {
		err = e.conclude()
	}
	e.reads.Lock()
	e.shut = true
	e.reads.Unlock()
	return errors.Join(err, e.journal.Close(), e.closeStore())
}

// closeStore closes the store, unless the disk is too full for that or its files are gone: it is left as after a crash then.
func (e *Engine) closeStore() error {
	if errors.Is(e.broken(), engine.ErrGone) {
		e.store.Abandon()
		return nil
	}
	if free := e.freeSpace(); free < e.leastSpace() {
		e.log.Warn("the disk is full; the store is left as it is, and needs space for the next start", "free", size(free))
		e.store.Abandon()
		return nil
	}
	return e.store.Close()
}

// conclude leaves nothing to do for the next start. On a disk that is full the journal
// keeps what cannot be written.
func (e *Engine) conclude() error {
	if free := e.freeSpace(); free >= e.floor() {
		if err := e.writeEverything(); !errors.Is(err, engine.ErrFull) {
			return err
		}
	}
	return e.journal.Sync(context.Background())
}

// writeEverything writes to the store what it does not have, and the counts.
func (e *Engine) writeEverything() error {
	ctx, hurry := context.WithCancel(context.Background())
	hurry()
	if err := e.flush(ctx); err != nil {
		return err
	}
	if err := e.writeCounts(); err != nil {
		return err
	}
	if err := e.mark(markCounted, e.journal.Last()); err != nil {
		return err
	}
	return e.sync()
}

// writeCounts writes the state of every slot that has one, with its counts.
func (e *Engine) writeCounts() error {
	return e.store.Write(func(batch Writer) error {
		for i := range e.slots {
			s := &e.slots[i]
			s.mu.Lock() // calls that were under way when the engine was closed
			known := s.stored || s.meta != (record.SlotMeta{}) || s.generation > 0 || s.counters.Load() != (engine.SlotStats{})
			value := encodeSlot(s, true)
			s.mu.Unlock()
			if known {
				if err := batch.Set(slotKey(s.number), value); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
