package disk

import (
	"fmt"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// load reads the record of a key from the store.
func (e *Engine) load(s *slot, pos engine.Position, key []byte) (rec record.Record, found bool, err error) {
	var buf [64]byte
	at := appendKey(buf[:0], s.number, s.generation, pos, key)
	err = e.store.View(func(r Reader) error {
		value, ok, err := r.Get(at)
		if err == nil && ok {
			_, rec, err = e.readRecord(r, at, value)
			found = err == nil
		}
		return err
	})
	if err != nil {
		return record.Record{}, false, fmt.Errorf("%w: slot %d, a record: %w", engine.ErrCorrupt, s.number, err)
	}
	return rec, found, nil
}

// readRecord returns the key and the record of what the store holds. They are views of at and value.
func (e *Engine) readRecord(r Reader, at, value []byte) (key []byte, rec record.Record, err error) {
	rec, away, err := decodeRecord(at, value)
	if err != nil {
		return nil, record.Record{}, err
	}
	key = at[keyAt:]
	switch {
	case away.number != 0:
		key, rec.State.Value, err = readApart(r, at, away.number)
	case away.parts.object != 0:
		rec.State.Value = nil
		rec.State.Object, err = e.assemble(r, at, rec.State.Type, away.parts)
	}
	return key, rec, err
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

// missing reports whether Get of the key would have to ask the store.
func (e *Engine) missing(s *slot, key []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole {
		return false
	}
	_, found := s.table.Find(engine.PositionOf(key), key)
	return !found
}
