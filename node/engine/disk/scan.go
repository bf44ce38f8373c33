package disk

import (
	"fmt"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/table"
)

// scan visits the records of a slot in order of position.
func (e *Engine) scan(s *slot, from engine.Position, visit func(engine.Position, []byte, record.Record) bool) error {
	return e.scanFrom(s, from, func(pos engine.Position, key []byte, rec record.Record, _ bool) bool {
		return visit(pos, key, rec)
	})
}

// visitor is given the records of a slot, and whether each is in the table.
type visitor func(pos engine.Position, key []byte, rec record.Record, cached bool) bool

// scanFrom merges what the table holds with what the store holds; the table is right
// where both know a key.
func (e *Engine) scanFrom(s *slot, from engine.Position, visit visitor) error {
	m := merge{engine: e, slot: s, visit: visit}
	if from >= engine.EndPosition { // no such place in a key
		return nil
	}
	if s.whole {
		m.table(from)
		return nil
	}
	err := e.store.View(func(r Reader) error {
		m.reader, m.iterator = r, r.Iterate(appendGeneration(nil, s.number, s.generation), appendPlace(nil, s.number, s.generation, from))
		defer m.iterator.Close()
		m.table(from)
		m.disk(engine.EndPosition)
		return m.err
	})
	if err != nil {
		return fmt.Errorf("%w: slot %d, while reading it: %w", engine.ErrCorrupt, s.number, err)
	}
	return nil
}

// merge is a scan under way.
type merge struct {
	engine   *Engine
	slot     *slot
	reader   Reader
	iterator Iterator // nil: the table is all there is
	visit    visitor
	ended    bool
	err      error
	key      []byte
}

// table visits the entries of the table, and those that come before each from the store.
func (m *merge) table(from engine.Position) {
	m.slot.table.Ascend(from, func(ref table.Ref) bool {
		m.disk(ref.Position())
		if m.ended || ref.Marks()&gone != 0 {
			return !m.ended
		}
		m.key = ref.AppendKey(m.key[:0])
		m.ended = !m.visit(ref.Position(), m.key, ref.Record(), true)
		return !m.ended
	})
}

// disk visits what the store holds below a position and the table does not know.
func (m *merge) disk(end engine.Position) {
	it := m.iterator
	for ; it != nil && !m.ended && it.Valid(); it.Next() {
		at := it.Key()
		if len(at) < keyAt {
			m.err, m.ended = errDamaged, true
			return
		}
		pos := positionIn(at)
		if pos >= end {
			return
		}
		if at[formAt] == formKey && m.known(pos, at[keyAt:]) {
			continue // without reading what is obsolete
		}
		value, err := it.Value()
		var key []byte
		var rec record.Record
		if err == nil {
			key, rec, err = m.engine.readRecord(m.reader, at, value)
		}
		if err != nil {
			m.err, m.ended = err, true
			return
		}
		if !m.known(pos, key) {
			m.ended = !m.visit(pos, key, rec, false)
		}
	}
	if it != nil && !m.ended && it.Err() != nil {
		m.err, m.ended = it.Err(), true
	}
}

// known reports whether the table knows a key.
func (m *merge) known(pos engine.Position, key []byte) bool {
	_, known := m.slot.table.Find(pos, key)
	return known
}
