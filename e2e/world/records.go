package world

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
)

// records are what a Store holds, in the order of their keys. They do not change.
type records []entry

type entry struct {
	key   string
	value []byte
}

// at returns where a key is, or would be.
func (r records) at(key string) (place int, found bool) {
	return slices.BinarySearchFunc(r, key, func(e entry, key string) int { return strings.Compare(e.key, key) })
}

// with returns the records after some changes; nil stands for a deletion.
func (r records) with(changes map[string][]byte) records {
	changed := slices.Sorted(maps.Keys(changes))
	next := make(records, 0, len(r)+len(changed))
	for len(r) > 0 || len(changed) > 0 {
		order := -1
		if len(r) == 0 {
			order = 1
		} else if len(changed) > 0 {
			order = cmp.Compare(r[0].key, changed[0])
		}
		if order < 0 {
			next, r = append(next, r[0]), r[1:]
			continue
		}
		if value := changes[changed[0]]; value != nil {
			next = append(next, entry{changed[0], value})
		}
		if changed = changed[1:]; order == 0 {
			r = r[1:]
		}
	}
	return next
}

// recordStore is a disk.Store on a volume: a map in memory. After a power cut a prefix of what was written is there.
type recordStore struct{ *volume }

// kind is what the engine on disk has to know of it.
func (v *volume) kind() disk.Kind {
	return disk.Kind{Name: "records", ApartFrom: 1 << 10,
		Least: func(opt *disk.Options) int64 { return opt.SegmentSize },
		Floor: func(opt *disk.Options) int64 { return opt.Reserve / 2 },
		Open:  func(disk.Options, func(error)) (disk.Store, error) { return recordStore{v}, nil },
	}
}

func (s recordStore) now() records {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[len(s.records)-1]
}

func (s recordStore) View(read func(disk.Reader) error) error { return read(reader(s.now())) }

func (s recordStore) Write(fill func(disk.Writer) error) error {
	w := writer{}
	if err := fill(w); err != nil {
		return err
	}
	return s.change(w)
}

func (s recordStore) change(changes map[string][]byte) error {
	if s.faults.full.Load() {
		return engine.ErrFull
	}
	if err := s.work(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, s.records[len(s.records)-1].with(changes))
	return nil
}

func (s recordStore) Drop(from, to []byte) (all bool, err error) {
	w := writer{}
	now := s.now()
	for i, _ := now.at(string(from)); i < len(now) && now[i].key < string(to); i++ {
		w[now[i].key] = nil
	}
	return true, s.change(w)
}

func (s recordStore) Sync() error {
	if err := s.work(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = s.records[len(s.records)-1:]
	return nil
}

func (recordStore) Reclaim(bool) (much bool, err error) { return false, nil }
func (recordStore) Compact() error                      { return nil }
func (recordStore) Missing() string                     { return "" }
func (recordStore) End()                                {}
func (recordStore) Close() error                        { return nil }
func (recordStore) Abandon()                            {}

// writer is a disk.Writer.
type writer map[string][]byte

func (w writer) Set(key, value []byte) error {
	w[string(key)] = append([]byte{}, value...)
	return nil
}

func (w writer) Delete(key []byte) error {
	w[string(key)] = nil
	return nil
}

// reader is a disk.Reader.
type reader records

func (r reader) Get(key []byte) (value []byte, found bool, err error) {
	i, found := records(r).at(string(key))
	if !found {
		return nil, false, nil
	}
	return bytes.Clone(r[i].value), true, nil
}

func (r reader) Iterate(prefix, from []byte) disk.Iterator {
	if from == nil {
		from = prefix
	}
	i, _ := records(r).at(string(from))
	return &iterator{records(r)[i:], string(prefix)}
}

// iterator is a disk.Iterator over records that have a prefix.
type iterator struct {
	rest   records
	prefix string
}

func (it *iterator) Valid() bool {
	return len(it.rest) > 0 && strings.HasPrefix(it.rest[0].key, it.prefix)
}
func (it *iterator) Next()                  { it.rest = it.rest[1:] }
func (it *iterator) Key() []byte            { return []byte(it.rest[0].key) }
func (it *iterator) Value() ([]byte, error) { return bytes.Clone(it.rest[0].value), nil }
func (it *iterator) Err() error             { return nil }
func (it *iterator) Close()                 {}
