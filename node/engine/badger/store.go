package badger

import (
	"errors"
	"fmt"
	"sync"

	badger "github.com/dgraph-io/badger/v4"

	"github.com/quolldb/quoll/internal/durable"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
)

// store is a disk.Store.
type store struct {
	db  *badger.DB
	dir string
	// resident keeps the memory that the files take within its bound.
	resident *resident
	// writing: Badger is never written to while a file of the value log is being collected, which looks at what is being
	// written without a lock (v4.9.6, MaxVersion).
	writing sync.Mutex
	fail    func(error)
	// abandoned is closed by Abandon: nobody waits for Badger any more.
	abandoned chan struct{}
	abandon   sync.Once
}

// errAbandoned is why a store that was abandoned is not written to.
var errAbandoned = errors.New("badger: the store was abandoned")

// run calls work and waits for it until the store is abandoned. Badger tries for ever to write its tables in memory to files, and whoever writes to it
// waits for that, also when there is no directory any more. Work goes on beside the caller then. If files are gone it was in vain, and what came
// next could end the process: Badger asserts that it could make a file.
func (s *store) run(work func() error) error {
	select {
	case <-s.abandoned:
		return errAbandoned
	default:
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		if err != nil {
			if name := s.Missing(); name != "" {
				err = fmt.Errorf("%w: %s: %w", engine.ErrGone, name, err)
				s.fail(err)
			}
		}
		return err
	case <-s.abandoned:
		return errAbandoned
	}
}

// View implements disk.Store. Badger asserts where it could return an error: a
// panic is one.
func (s *store) View(read func(disk.Reader) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("badger: %v", p)
		}
	}()
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	return read(reader{txn})
}

// Write implements disk.Store.
func (s *store) Write(fill func(disk.Writer) error) error {
	var w writer // what fill does cannot go on beside the caller
	if err := fill(&w); err != nil {
		return err
	}
	return s.run(func() error {
		s.writing.Lock()
		defer s.writing.Unlock()
		batch := s.db.NewWriteBatch()
		defer batch.Cancel()
		for _, o := range w {
			if err := o(batch); err != nil {
				return err
			}
		}
		return batch.Flush()
	})
}

// writer is a disk.Writer: what is to be done to a batch.
type writer []func(*badger.WriteBatch) error

// Set implements disk.Writer.
func (w *writer) Set(key, value []byte) error {
	*w = append(*w, func(b *badger.WriteBatch) error { return b.Set(key, value) })
	return nil
}

// Delete implements disk.Writer.
func (w *writer) Delete(key []byte) error {
	*w = append(*w, func(b *badger.WriteBatch) error { return b.Delete(key) })
	return nil
}

// dropStep is how many keys are removed with one batch.
const dropStep = 1000

// Drop implements disk.Store.
func (s *store) Drop(from, to []byte) (all bool, err error) {
	var keys [][]byte
	err = s.View(func(r disk.Reader) error {
		it := r.Iterate(nil, from)
		defer it.Close()
		for ; it.Valid() && len(keys) < dropStep && string(it.Key()) < string(to); it.Next() {
			keys = append(keys, append([]byte(nil), it.Key()...))
		}
		return it.Err()
	})
	if err != nil || len(keys) == 0 {
		return err == nil, err
	}
	return len(keys) < dropStep, s.Write(func(batch disk.Writer) error {
		for _, key := range keys {
			if err := batch.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sync implements disk.Store. Badger has synced the contents of its files already; that the files exist it has not.
func (s *store) Sync() error {
	return s.run(func() error {
		if err := s.db.Sync(); err != nil {
			return err
		}
		return durable.Sync(s.dir)
	})
}

// Reclaim implements disk.Store: it rewrites one file of the value log, if one is worth it.
func (s *store) Reclaim(short bool) (much bool, err error) {
	var rewritten bool // of the work's own: it may go on beside whoever is told that the store was abandoned
	err = s.run(func() error {
		if short {
			if err := s.db.Flatten(1); err != nil {
				return err
			}
		}
		s.writing.Lock()
		defer s.writing.Unlock()
		err := s.db.RunValueLogGC(deadShare)
		rewritten = err == nil
		if errors.Is(err, badger.ErrNoRewrite) || errors.Is(err, badger.ErrRejected) {
			return nil
		}
		return err
	})
	return err == nil && rewritten, err
}

// Compact implements disk.Store.
func (s *store) Compact() error {
	_, err := s.Reclaim(true)
	return err
}

// End implements disk.Store: nothing of Badger waits for space.
func (*store) End() {}

// Close implements disk.Store.
func (s *store) Close() error {
	s.resident.close()
	return s.db.Close()
}

// Abandon implements disk.Store. Badger would write, and try for ever: it keeps its directory locked until the process ends.
func (s *store) Abandon() {
	s.abandon.Do(func() { close(s.abandoned) })
	s.resident.close()
}

// reader is a disk.Reader.
type reader struct{ txn *badger.Txn }

// Get implements disk.Reader.
func (r reader) Get(key []byte) (value []byte, found bool, err error) {
	item, err := r.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value, err = item.ValueCopy(nil)
	return value, err == nil, err
}

// Iterate implements disk.Reader.
func (r reader) Iterate(prefix, from []byte) disk.Iterator {
	options := badger.DefaultIteratorOptions
	options.PrefetchValues = false // values are with their keys, unless they are large
	options.Prefix = prefix
	it := r.txn.NewIterator(options)
	if from == nil {
		it.Rewind()
	} else {
		it.Seek(from)
	}
	return iterator{it}
}

// iterator is a disk.Iterator.
type iterator struct{ *badger.Iterator }

// Key implements disk.Iterator.
func (it iterator) Key() []byte { return it.Item().Key() }

// Value implements disk.Iterator.
func (it iterator) Value() ([]byte, error) { return it.Item().ValueCopy(nil) }

// Err implements disk.Iterator. What Badger's tables hold was verified, and records have checksums.
func (iterator) Err() error { return nil }
