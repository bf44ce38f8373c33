package disk

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
)

// fakeStore is a Store in memory that keeps everything that was written, in order: a crash leaves a prefix of that.
type fakeStore struct {
	mu    sync.Mutex
	data  map[string][]byte
	log   []op
	reads atomic.Int64
	full  bool // after room more writes
	room  int
}

// after returns the store as a crash leaves it after the first n writes.
func (s *fakeStore) after(n int) *fakeStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := &fakeStore{data: map[string][]byte{}}
	for _, o := range s.log[:n] {
		left.add(o)
	}
	return left
}

// setFull says whether the store is full after some more writes.
func (s *fakeStore) setFull(full bool, room int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full, s.room = full, room
}

func (s *fakeStore) add(o op) {
	s.log = append(s.log, o)
	if o.value == nil {
		delete(s.data, string(o.key))
		return
	}
	s.data[string(o.key)] = o.value
}

func (s *fakeStore) writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log)
}

// keys returns the keys with a prefix, in order.
func (s *fakeStore) keys(prefix []byte) (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.data {
		if bytes.HasPrefix([]byte(key), prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// spoil makes a change that nobody has asked for.
func (s *fakeStore) spoil(key string, change func(value []byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value := change(bytes.Clone(s.data[key])); value != nil {
		s.data[key] = value
	} else {
		delete(s.data, key)
	}
}

func (s *fakeStore) View(read func(Reader) error) error { return read(s) }

func (s *fakeStore) Write(fill func(Writer) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fill(fakeWriter{s})
}

func (s *fakeStore) Drop(from, to []byte) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(s.data)) {
		if key >= string(from) && key < string(to) {
			s.add(op{key: []byte(key)})
		}
	}
	return true, nil
}

func (s *fakeStore) Get(key []byte) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads.Add(1)
	value, found := s.data[string(key)]
	return bytes.Clone(value), found, nil
}

func (s *fakeStore) Iterate(prefix, from []byte) Iterator {
	keys := s.keys(prefix)
	first, _ := slices.BinarySearch(keys, string(from))
	return &fakeIterator{s, keys[first:]}
}

func (*fakeStore) Sync() error                { return nil }
func (*fakeStore) Reclaim(bool) (bool, error) { return false, nil }
func (*fakeStore) Compact() error             { return nil }
func (*fakeStore) Missing() string            { return "" }
func (*fakeStore) End()                       {}
func (*fakeStore) Close() error               { return nil }
func (*fakeStore) Abandon()                   {}

// take takes the room for a write.
func (s *fakeStore) take() error {
	if s.full && s.room == 0 {
		return engine.ErrFull
	}
	s.room--
	return nil
}

type fakeWriter struct{ store *fakeStore }

func (w fakeWriter) Set(key, value []byte) error {
	if err := w.store.take(); err != nil {
		return err
	}
	w.store.add(op{bytes.Clone(key), append([]byte{}, value...)})
	return nil
}

func (w fakeWriter) Delete(key []byte) error {
	if err := w.store.take(); err != nil {
		return err
	}
	w.store.add(op{key: bytes.Clone(key)})
	return nil
}

type fakeIterator struct {
	store *fakeStore
	keys  []string
}

func (it *fakeIterator) Valid() bool { return len(it.keys) > 0 }
func (it *fakeIterator) Next()       { it.keys = it.keys[1:] }
func (it *fakeIterator) Key() []byte { return []byte(it.keys[0]) }
func (it *fakeIterator) Err() error  { return nil }
func (it *fakeIterator) Close()      {}
func (it *fakeIterator) Value() ([]byte, error) {
	value, _, err := it.store.Get(it.Key())
	return value, err
}

// openFake opens an engine on a fake store, with hashes as nodes have them, all in parts that may be, and not read before they are needed but for short ones. Nothing is
// flushed by itself.
func openFake(t require.TestingT, dir string, store *fakeStore) *Engine {
	e, err := Open(Options{
		Dir: dir, Journal: dir + "/journal", SegmentSize: 256 << 10, FlushSize: 1 << 40, FlushInterval: time.Hour, CollectInterval: time.Hour,
		PartsFrom: 1, LazyFrom: 6000, WaitFrom: 1 << 40, Apply: datatype.Apply, Live: datatype.Live, Assemble: datatype.Assemble, Logger: slog.New(slog.DiscardHandler),
	}, Kind{
		Name: "fake", ApartFrom: 2000, Least: func(*Options) int64 { return 0 }, Floor: func(*Options) int64 { return 0 },
		Open: func(Options, func(error)) (Store, error) { return store, nil },
	})
	require.NoError(t, err)
	return e
}
