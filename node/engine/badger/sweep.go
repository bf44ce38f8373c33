package badger

import (
	"context"

	badger "github.com/dgraph-io/badger/v4"
)

// sweepStep is how many records of former generations are removed with one batch.
const sweepStep = 1000

// sweeping reports whether there may be garbage.
func (e *Engine) sweeping() bool { return e.garbage.Load() > 0 }

// sweep removes what slots held before they were cleared. The flusher calls it: nothing
// is written under a former generation at the same time.
func (e *Engine) sweep(ctx context.Context) error {
	if !e.sweeping() {
		return nil
	}
	for i := range e.slots {
		if err := e.sweepSlot(ctx, &e.slots[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) sweepSlot(ctx context.Context, s *slot) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		// Not what only the journal has left behind: that may yet be lost.
		generation, garbage := s.settled, s.garbage
		s.mu.Unlock()
		if !garbage {
			return nil
		}
		n, err := e.sweepBatch(s.number, generation)
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		s.mu.Lock()
		if s.generation == generation {
			s.garbage = false
			e.garbage.Add(-1)
		}
		s.mu.Unlock()
		return nil
	}
	return nil
}

// sweepBatch removes some records of generations before one, and returns how many.
func (e *Engine) sweepBatch(slot uint16, generation uint32) (int, error) {
	var keys [][]byte
	err := e.view(func(txn *badger.Txn) error {
		options := badger.DefaultIteratorOptions
		options.PrefetchValues = false
		options.Prefix = appendGeneration(nil, slot, 0)[:generationAt]
		it := txn.NewIterator(options)
		defer it.Close()
		end := string(appendGeneration(nil, slot, generation))
		for it.Rewind(); it.Valid() && len(keys) < sweepStep; it.Next() {
			at := it.Item().KeyCopy(nil)
			if string(at) >= end {
				break
			}
			keys = append(keys, at)
			if number, err := numberIn(it.Item()); err == nil && number != 0 {
				keys = append(keys, largeKey(at, number))
			}
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	return len(keys), e.removeAll(keys)
}
