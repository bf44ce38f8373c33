package sim

import (
	"maps"

	"github.com/quolldb/quoll/internal/record"
)

// image is the content of a store.
type image struct {
	meta    record.SlotMeta
	records map[string]record.Record
}

func (im *image) clone() image { return image{im.meta, maps.Clone(im.records)} }

// store implements register.Store. What is staged is visible at once and durable
// after commit.
type store struct {
	staged, durable image
	log             []func(*image)
	stagedAt        int // number of mutations staged since the start
	durableAt       int
}

func newStore() *store {
	return &store{staged: image{records: map[string]record.Record{}}, durable: image{records: map[string]record.Record{}}}
}

func (s *store) stage(mutate func(*image)) error {
	mutate(&s.staged)
	s.log = append(s.log, mutate)
	s.stagedAt++
	return nil
}

// commit makes the first mutations durable, up to number at.
func (s *store) commit(at int) {
	for s.durableAt < at {
		s.log[0](&s.durable)
		s.log = s.log[1:]
		s.durableAt++
	}
}

// crash forgets what is not durable.
func (s *store) crash() {
	s.staged, s.log, s.stagedAt = s.durable.clone(), nil, s.durableAt
}

func (s *store) Slot(uint16) (record.SlotMeta, error) { return s.staged.meta, nil }

func (s *store) PutSlot(_ uint16, meta record.SlotMeta) error {
	return s.stage(func(im *image) { im.meta = meta })
}

func (s *store) Get(_ uint16, key []byte) (record.Record, bool, error) {
	rec, ok := s.staged.records[string(key)]
	return rec, ok, nil
}

func (s *store) Put(_ uint16, key []byte, rec record.Record) error {
	name := string(key)
	rec.State = clone(rec.State)
	return s.stage(func(im *image) { im.records[name] = rec })
}

func (s *store) Delete(_ uint16, key []byte) error {
	name := string(key)
	return s.stage(func(im *image) { delete(im.records, name) })
}

func (s *store) Clear(_ uint16, meta record.SlotMeta) error {
	return s.stage(func(im *image) {
		im.meta = meta
		maps.DeleteFunc(im.records, func(_ string, rec record.Record) bool { return !meta.Cleared.Less(rec.Version) })
	})
}

func clone(st record.State) record.State {
	st.Value = append([]byte(nil), st.Value...)
	return st
}
