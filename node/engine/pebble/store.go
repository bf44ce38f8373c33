package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/quolldb/quoll/node/engine/disk"
)

// store is a disk.Store.
type store struct {
	db     *pebble.DB
	dir    string
	guard  *guard
	files  *guarded
	log    *slog.Logger
	ctx    context.Context // ends with End
	cancel context.CancelFunc

	damaged   atomic.Bool  // a table is
	written   atomic.Int64 // bytes since the last compaction of everything
	compacted time.Time    // when the next one may be; Reclaim's
}

// Write implements disk.Store.
func (s *store) Write(fill func(disk.Writer) error) error {
	batch := s.db.NewBatch()
	if err := fill(writer{batch}); err != nil {
		return errors.Join(err, batch.Close())
	}
	s.written.Add(int64(batch.Len()))
	return s.guard.run(func() error {
		return errors.Join(batch.Commit(pebble.NoSync), batch.Close())
	})
}

// Drop implements disk.Store. It reads nothing, unless a table is damaged.
func (s *store) Drop(from, to []byte) (all bool, err error) {
	if s.damaged.Load() {
		// What is damaged goes without being read, as far as it is not in one block with something else.
		err := s.guard.run(func() error { return s.db.Excise(s.ctx, pebble.KeyRange{Start: from, End: to}) })
		if err != nil {
			s.log.Warn("what is damaged stays in its table for now", "err", err)
		}
	}
	err = s.Write(func(w disk.Writer) error { return w.(writer).batch.DeleteRange(from, to, nil) })
	return err == nil, err
}

// Sync implements disk.Store: it writes Pebble's tables in memory to disk.
func (s *store) Sync() error {
	return s.guard.run(func() error { return s.db.Flush() })
}

// compactRest is how many times as long as a compaction of everything took nothing else is compacted so.
const compactRest = 1

// Reclaim implements disk.Store. Pebble compacts by itself what is worth it; where space is short, everything that has changed.
func (s *store) Reclaim(short bool) (much bool, err error) {
	began := time.Now()
	if !short || s.written.Load() == 0 || began.Before(s.compacted) {
		return false, nil
	}
	err = s.Compact()
	s.compacted = time.Now().Add(compactRest * time.Since(began))
	if s.ctx.Err() != nil {
		err = nil
	}
	return false, err
}

// Compact implements disk.Store.
func (s *store) Compact() error {
	s.written.Store(0)
	return s.guard.run(func() error { return s.db.Compact(s.ctx, []byte{0}, []byte{0xff, 0xff}, false) })
}

// End implements disk.Store.
func (s *store) End() {
	s.cancel()
	s.guard.set(func() { s.guard.ending = true })
}

// Close implements disk.Store.
func (s *store) Close() error {
	s.End()
	err := s.guard.run(s.db.Close)
	if s.guard.hindered() {
		s.Abandon()
		return nil // it was told, or the disk is full
	}
	return err
}

// Abandon implements disk.Store. Goroutines of Pebble's that want to write wait until the process ends.
func (s *store) Abandon() {
	s.End()
	s.guard.stop()
	if err := s.files.unlock(); err != nil {
		s.log.Warn("the store could not be unlocked", "err", err)
	}
}

// View implements disk.Store.
func (s *store) View(read func(disk.Reader) error) (err error) {
	r := reader{db: s.db}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("pebble: %v", p)
		}
		if r.snapshot != nil {
			err = errors.Join(err, r.snapshot.Close())
		}
	}()
	return read(&r)
}

// writer is a disk.Writer.
type writer struct{ batch *pebble.Batch }

// Set implements disk.Writer.
func (w writer) Set(key, value []byte) error { return w.batch.Set(key, value, nil) }

// Delete implements disk.Writer.
func (w writer) Delete(key []byte) error { return w.batch.Delete(key, nil) }

// reader is a disk.Reader.
type reader struct {
	db       *pebble.DB
	snapshot *pebble.Snapshot // from the first Iterate on
}

// Get implements disk.Reader.
func (r *reader) Get(key []byte) (value []byte, found bool, err error) {
	var from pebble.Reader = r.db
	if r.snapshot != nil {
		from = r.snapshot
	}
	borrowed, closer, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = append([]byte(nil), borrowed...)
	return value, true, closer.Close()
}

// Iterate implements disk.Reader.
func (r *reader) Iterate(prefix, from []byte) disk.Iterator {
	if r.snapshot == nil {
		r.snapshot = r.db.NewSnapshot()
	}
	if from == nil {
		from = prefix
	}
	it, err := r.snapshot.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: behind(prefix)})
	if err != nil {
		return &iterator{err: err}
	}
	it.SeekGE(from)
	return &iterator{Iterator: it}
}

// behind returns the first key that is above all with a prefix, nil if there is none.
func behind(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return append(append([]byte(nil), prefix[:i]...), prefix[i]+1)
		}
	}
	return nil
}

// iterator is a disk.Iterator.
type iterator struct {
	*pebble.Iterator
	err error // of making it
}

// Valid implements disk.Iterator.
func (it *iterator) Valid() bool { return it.err == nil && it.Iterator.Valid() }

// Next implements disk.Iterator.
func (it *iterator) Next() { it.Iterator.Next() }

// Value implements disk.Iterator.
func (it *iterator) Value() ([]byte, error) {
	value, err := it.ValueAndErr()
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), value...), nil
}

// Err implements disk.Iterator.
func (it *iterator) Err() error {
	if it.err != nil {
		return it.err
	}
	return it.Error()
}

// Close implements disk.Iterator.
func (it *iterator) Close() {
	if it.err == nil {
		it.err = it.Iterator.Close()
	}
}
