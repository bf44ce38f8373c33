package badger

import (
	"errors"
	"fmt"

	badger "github.com/dgraph-io/badger/v4"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// load reads the record of a key from Badger.
func (e *Engine) load(s *slot, pos engine.Position, key []byte) (rec record.Record, found bool, err error) {
	var buf [64]byte
	at := appendKey(buf[:0], s.number, s.generation, pos, key)
	err = e.view(func(txn *badger.Txn) error {
		item, err := txn.Get(at)
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		_, rec, err = readItem(txn, at, item)
		found = err == nil
		return err
	})
	if err != nil {
		return record.Record{}, false, fmt.Errorf("%w: slot %d, a record: %w", engine.ErrCorrupt, s.number, err)
	}
	return rec, found, nil
}

// readItem returns a copy of what Badger holds.
func readItem(txn *badger.Txn, at []byte, item *badger.Item) (key []byte, rec record.Record, err error) {
	value, err := item.ValueCopy(nil)
	if err != nil {
		return nil, record.Record{}, err
	}
	rec, number, err := decodeRecord(at, value)
	if err != nil {
		return nil, record.Record{}, err
	}
	key = at[keyAt:]
	if number != 0 {
		key, rec.State.Value, err = readApart(txn, at, number)
	}
	return key, rec, err
}

// view runs a transaction that reads. Badger asserts where it could return an error: a
// panic is one.
func (e *Engine) view(read func(*badger.Txn) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("badger: %v", p)
		}
	}()
	txn := e.db.NewTransaction(false)
	defer txn.Discard()
	return read(txn)
}

// loaders bounds the reads that one Prefetch makes at the same time.
const loaders = 16

// Prefetch reads what is not in memory of up to 16 keys, side by side: a disk is as fast
// with many as with one. A nil key asks for nothing. The caller serialises it as Get, which
// reports what goes wrong here.
func (e *Engine) Prefetch(slots []uint16, keys [][]byte, _ []engine.Use) {
	var missing [loaders]int
	n := 0
	for i, number := range slots[:min(len(slots), loaders)] {
		if keys[i] != nil && number < engine.Slots && e.missing(&e.slots[number], keys[i]) {
			missing[n] = i
			n++
		}
	}
	if n < 2 || e.broken() != nil {
		return
	}
	done := make(chan struct{}, loaders)
	for _, i := range missing[:n] {
		go func() {
			defer func() { done <- struct{}{} }()
			s := &e.slots[slots[i]]
			s.mu.Lock()
			defer s.mu.Unlock()
			_, _ = e.entry(s, engine.PositionOf(keys[i]), keys[i])
		}()
	}
	for range n {
		<-done
	}
}

// missing reports whether Get of the key would have to ask Badger.
func (e *Engine) missing(s *slot, key []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole {
		return false
	}
	_, found := s.table.Find(engine.PositionOf(key), key)
	return !found
}
