package badger

import (
	"context"
	"time"

	badger "github.com/dgraph-io/badger/v4"
)

// Maintain does what goes on in the background, now: it writes back, removes what was cleared,
// compacts all tables and collects the value log. It makes the engine an
// enginetest.Maintainer.
func (e *Engine) Maintain() error {
	if err := e.WriteBack(); err != nil {
		return err
	}
	if err := e.db.Flatten(1); err != nil {
		return err
	}
	_, err := e.collect()
	return err
}

// WriteBack waits until the store has everything that was staged before the call.
func (e *Engine) WriteBack() error {
	if err := e.journal.Sync(context.Background()); err != nil {
		return err
	}
	until := e.journal.Last()
	for e.journal.Checkpointed() < until || e.sweeping() {
		e.wake(e.flushNow)
		time.Sleep(time.Millisecond)
		if err := e.broken(); err != nil {
			return err
		}
	}
	return nil
}

// LargeValues counts the values that are apart from their records, orphans too.
func (e *Engine) LargeValues() (n int) {
	_ = e.view(func(txn *badger.Txn) error {
		options := badger.DefaultIteratorOptions
		options.PrefetchValues, options.Prefix = false, largePrefix
		it := txn.NewIterator(options)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			n++
		}
		return nil
	})
	return n
}

// Unreported returns how many slots the engine found damaged and has told nobody of.
func (e *Engine) Unreported() int {
	e.damage.mu.Lock()
	defer e.damage.mu.Unlock()
	return len(e.damage.found)
}
