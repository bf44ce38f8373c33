package disk

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/table"
)

// Maintain does what goes on in the background, now: it writes back, removes what was cleared,
// and gives back all space that it can. It makes the engine an
// enginetest.Maintainer.
func (e *Engine) Maintain() error {
	if err := e.WriteBack(); err != nil {
		return err
	}
	return e.store.Compact()
}

// WriteBack waits until the store has everything that was staged before the call.
func (e *Engine) WriteBack() error {
	if err := e.journal.Sync(context.Background()); err != nil {
		return err
	}
	until := e.journal.Last()
	for e.journal.Checkpointed() < until || e.sweeping() {
		if e.logged.Load() <= e.opt.WaitSize {
			e.logged.Add(e.opt.WaitSize + 1) // nothing waits
		}
		e.wake(e.flushNow)
		time.Sleep(time.Millisecond)
		if err := e.broken(); err != nil {
			return err
		}
	}
	e.flushes.Lock() // what the flusher is at ends by subtracting what it has counted
	defer e.flushes.Unlock()
	e.logged.Store(0)
	return nil
}

// LargeValues counts the values that are apart from their records, orphans too.
func (e *Engine) LargeValues() (n int) {
	_ = e.store.View(func(r Reader) error {
		return each(r, largePrefix, nil, func(Iterator) (bool, error) {
			n++
			return true, nil
		})
	})
	return n
}

// Unreported returns how many slots the engine found damaged and has told nobody of.
func (e *Engine) Unreported() int {
	e.damage.mu.Lock()
	defer e.damage.mu.Unlock()
	return len(e.damage.found)
}

// HoldStore makes the store take nothing until release is called; begun is closed when something is written to it. It is for an
// engine that has nothing to write yet.
func (e *Engine) HoldStore() (begun <-chan struct{}, release func()) {
	held := &heldStore{Store: e.store, begun: make(chan struct{}), released: make(chan struct{})}
	e.store = held
	return held.begun, sync.OnceFunc(func() { close(held.released) })
}

type heldStore struct {
	Store
	first           sync.Once
	begun, released chan struct{}
}

func (s *heldStore) Write(fill func(Writer) error) error {
	s.first.Do(func() { close(s.begun) })
	<-s.released
	return s.Store.Write(fill)
}

// FlushOnly writes what has changed to the store, as the flusher does, and ends before the journal forgets it.
func (e *Engine) FlushOnly() error {
	e.flushes.Lock()
	defer e.flushes.Unlock()
	b := batch{engine: e, ctx: context.Background()}
	for i := range e.slots {
		if err := b.slot(&e.slots[i]); err != nil {
			return err
		}
	}
	if err := b.write(); err != nil {
		return err
	}
	return e.sync()
}

// Flush does what the flusher does when its time has come.
func (e *Engine) Flush() error {
	e.flushes.Lock()
	defer e.flushes.Unlock()
	return e.flush(context.Background())
}

// CountStore counts the bytes that the store is given from now on. It is for an engine that has nothing to write.
func (e *Engine) CountStore() (given func() int64) {
	e.flushes.Lock()
	defer e.flushes.Unlock()
	counted := &countedStore{Store: e.store}
	e.store = counted
	return counted.given.Load
}

type countedStore struct {
	Store
	given atomic.Int64
}

func (s *countedStore) Write(fill func(Writer) error) error {
	return s.Store.Write(func(w Writer) error { return fill(countedWriter{w, s}) })
}

type countedWriter struct {
	Writer
	store *countedStore
}

func (w countedWriter) Set(key, value []byte) error {
	w.store.given.Add(int64(len(key) + len(value)))
	return w.Writer.Set(key, value)
}

// Forgotten reports whether the journal has forgotten everything.
func (e *Engine) Forgotten() bool { return e.journal.Checkpointed() == e.journal.Last() }

// Evict takes out of memory what the store has of a slot.
func (e *Engine) Evict(number uint16) {
	s := &e.slots[number]
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	s.table.Ascend(0, func(ref table.Ref) bool {
		if ref.Marks()&pinned == 0 {
			keys = append(keys, ref.Key())
		}
		return true
	})
	for _, key := range keys {
		e.drop(s, engine.PositionOf(view(key)), view(key))
	}
	s.whole = false
}
