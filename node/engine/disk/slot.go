package disk

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
	"github.com/quolldb/quoll/node/engine/table"
)

// slot is one slot: its state, and its records as far as they are in memory. Calls of
// the engine for one slot do not overlap; the mutex is for the engine's own goroutines.
type slot struct {
	mu     sync.Mutex
	number uint16
	meta   record.SlotMeta
	// generation is that of the slot's keys in the store.
	generation uint32

	// table holds every record that the store does not have as it is, and others.
	table table.Table
	// whole: what is not in the table does not exist.
	whole bool
	// reached is how far the background pass has come, loading says that it has kept in
	// the table all that it has met.
	reached engine.Position
	loading bool
	// changed names the entries that are marked dirty, metaChanged says that about the
	// state. A key may be there twice, or be gone with a clear.
	changed     []string
	metaChanged bool
	// stored: the store has a state of the slot; settled is the generation in it.
	stored  bool
	settled uint32
	// garbage: there may be records of former generations in the store.
	garbage bool

	// counters counts the records below counted, which is reached or the end.
	counters engine.Counters
	counted  engine.Position
	// newest is not below the version of any record, expiry not above the first expiry (0:
	// none), as far as the slot is counted.
	newest record.Version
	expiry int64

	// lent is a copy of the last short value that Get has returned.
	lent []byte
}

// The marks of a table's entries.
const (
	dirty    = 1 << iota // the store does not have it
	flushing             // the flusher is writing it to the store
	gone                 // there is no record of the key
	used                 // somebody asked for it since the clock came by
	hadParts             // the store has it in parts, as far as is known
)

// pinned entries must not leave memory.
const pinned = dirty | flushing

// entryOverhead is the memory that an entry takes besides key and value.
const entryOverhead = 96

// memoryOf returns the memory of an entry without what its source has read: see source.Kept.
func memoryOf(ref table.Ref) int64 { return entryOverhead + int64(ref.Memory()) }

// entry returns the entry of a key, from the store if it has to be. Without a record there
// is one that is marked gone, or none if the slot is whole.
func (e *Engine) entry(s *slot, pos engine.Position, key []byte) (table.Ref, error) {
	if ref, found := s.table.Find(pos, key); found {
		if ref.Marks()&used == 0 {
			ref.Mark(ref.Marks() | used)
		}
		return ref, nil
	}
	if s.whole {
		return table.Ref{}, nil
	}
	rec, found, err := e.load(s, pos, key)
	if err != nil {
		return table.Ref{}, err
	}
	return e.keep(s, pos, key, rec, found), nil
}

// keep adds an entry for what the store holds of a key.
func (e *Engine) keep(s *slot, pos engine.Position, key []byte, rec record.Record, found bool) table.Ref {
	ref, _ := s.table.Upsert(pos, key)
	inParts := rec.State.Object != nil
	rec.State = e.live(rec.State)
	ref.Set(rec)
	sourceOf(rec.State).enter()
	switch {
	case !found:
		ref.Mark(used | gone)
	case inParts:
		ref.Mark(used | hadParts)
	default:
		ref.Mark(used)
	}
	e.grow(memoryOf(ref))
	return ref
}

// absent reports whether an entry that was asked for has no record.
func absent(ref table.Ref) bool { return ref == (table.Ref{}) || ref.Marks()&gone != 0 }

// get returns the record of a key.
func (e *Engine) get(s *slot, key []byte) (record.Record, bool, error) {
	ref, err := e.entry(s, engine.PositionOf(key), key)
	if err != nil || absent(ref) {
		return record.Record{}, false, err
	}
	return ref.Record(), true, nil
}

// lend returns what Get may give away of a value: a copy if it is short, because the evictor, or reading another key, may take or
// move what is in the table. The next one takes its place.
func (s *slot) lend(value []byte) []byte {
	if len(value) == 0 || len(value) > record.CopiedValue {
		return value
	}
	if arena.Spoils {
		arena.Spoil(s.lent)
		s.lent = nil
	}
	s.lent = append(s.lent[:0], value...)
	return s.lent[:len(value):len(value)]
}

// put replaces the record of a key.
func (e *Engine) put(s *slot, key []byte, rec record.Record) error {
	ref, err := e.entry(s, engine.PositionOf(key), key)
	if err != nil {
		return err
	}
	if q := sourceOf(rec.State); q != nil && q != sourceIn(ref) {
		if rec.State, err = e.own(rec.State); err != nil {
			return err
		}
	}
	if err := e.journalPut(s, key, rec); err != nil {
		return err
	}
	e.changed(memoryOf(e.set(s, key, rec)))
	return nil
}

// putChange is put of what a delta makes of the record of version base. If the version is not above that, the journal gets the whole record:
// repeating leaves changes out by their versions, see replayChange.
func (e *Engine) putChange(s *slot, key []byte, rec record.Record, base record.Version, delta []byte) error {
	ref, err := e.entry(s, engine.PositionOf(key), key)
	if err != nil {
		return err
	}
	if !base.Less(rec.Version) {
		return e.put(s, key, rec)
	}
	if q := sourceOf(rec.State); q != nil && q != sourceIn(ref) { // the home has a version from before the record left memory
		held, err := e.opt.Apply(ref.Record().State, delta)
		if err != nil {
			return err
		}
		rec.State.Value, rec.State.Object = held.Value, held.Object // type and expiry are the record's
	}
	if err := e.journalChange(s, key, rec, base, delta); err != nil {
		return err
	}
	e.set(s, key, rec)
	e.changed(entryOverhead + int64(len(delta)))
	return nil
}

// patch is putChange of a patch of the record of version base. It overwrites the bytes in the table.
func (e *Engine) patch(s *slot, key []byte, version, base record.Version, delta []byte) error {
	pos := engine.PositionOf(key)
	ref, err := e.entry(s, pos, key)
	if err != nil {
		return err
	}
	var old record.Record // of which there is no patch
	if !absent(ref) {
		old = ref.Record()
	}
	p, ok := record.PatchOf(old.State, delta)
	if !ok {
		return fmt.Errorf("%w: in slot %d", engine.ErrPatch, s.number)
	}
	if e.opt.Apply == nil || !base.Less(version) { // nobody could repeat the change
		return e.put(s, key, record.Record{Version: version, State: p.Of(old.State, nil)})
	}
	next := record.Record{Version: version, State: old.State}
	if err := e.journalChange(s, key, next, base, delta); err != nil {
		return err
	}
	s.discount(pos, key, old)
	ref.Patch(version, p)
	s.count(pos, key, next)
	e.change(s, ref, ref.Marks()|used)
	e.changed(entryOverhead + int64(len(delta)))
	return nil
}

// sourceIn returns the source of the object that an entry has, nil if there is none.
func sourceIn(ref table.Ref) *source {
	if ref == (table.Ref{}) {
		return nil
	}
	return sourceOf(ref.Record().State)
}

// own returns a state that is all in memory.
func (e *Engine) own(st record.State) (record.State, error) {
	packed, err := packed(st)
	st.Value, st.Object = packed, nil
	return e.live(st), err
}

// packed returns the value of a state as bytes.
func packed(st record.State) (value []byte, err error) {
	defer record.Catch(&err)
	return st.Packed().Value, nil
}

// live returns a state that was read as it is in memory.
func (e *Engine) live(st record.State) record.State {
	if e.opt.Live != nil {
		st, _ = e.opt.Live(st)
	}
	return st
}

// set is put without the journal. The key has been looked up.
func (e *Engine) set(s *slot, key []byte, rec record.Record) table.Ref {
	pos := engine.PositionOf(key)
	ref, found := s.table.Upsert(pos, key)
	next := sourceOf(rec.State)
	if found {
		old := ref.Record()
		if ref.Marks()&gone == 0 {
			s.discount(pos, key, old)
		}
		e.grow(-memoryOf(ref))
		if was := sourceOf(old.State); was != next {
			was.leave()
		}
	}
	next.enter()
	ref.Set(rec)
	e.grow(memoryOf(ref))
	s.count(pos, key, rec)
	e.change(s, ref, ref.Marks()&^gone|used)
	return ref
}

// remove removes the record of a key, if there is one.
func (e *Engine) remove(s *slot, key []byte) error {
	ref, err := e.entry(s, engine.PositionOf(key), key)
	if err != nil || absent(ref) {
		return err
	}
	if err := e.journalDelete(s, key); err != nil {
		return err
	}
	e.bury(s, key)
	return nil
}

// bury is remove without the journal. If the slot is counted, the key has been looked up.
func (e *Engine) bury(s *slot, key []byte) {
	pos := engine.PositionOf(key)
	ref, found := s.table.Upsert(pos, key)
	old := ref.Record()
	if found {
		if ref.Marks()&gone == 0 {
			s.discount(pos, key, old)
		}
		e.grow(-memoryOf(ref))
		sourceOf(old.State).leave()
	}
	ref.Set(record.Record{})
	e.grow(memoryOf(ref))
	e.change(s, ref, ref.Marks()|gone|used)
	e.changed(memoryOf(ref))
}

// change marks an entry as one that the store does not have.
func (e *Engine) change(s *slot, ref table.Ref, marks uint8) {
	if marks&dirty == 0 {
		s.changed = append(s.changed, ref.Key())
	}
	ref.Mark(marks | dirty)
}

func (e *Engine) setMeta(s *slot, meta record.SlotMeta) {
	s.meta, s.metaChanged = meta, true
	e.changed(entryOverhead)
}

// survivor is a record that a clear does not remove.
type survivor struct {
	key []byte
	rec record.Record // of its own
}

// survivors returns the records of a slot that are newer than a clear.
func (e *Engine) survivors(s *slot, meta record.SlotMeta) (list []survivor, err error) {
	if s.counted == engine.EndPosition && !meta.Cleared.Less(s.newest) {
		return nil, nil
	}
	var failed error
	err = e.scan(s, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
		if meta.Cleared.Less(rec.Version) {
			if rec.State = rec.State.Keep(); sourceOf(rec.State) != nil { // what the store has of it goes
				rec.State, failed = e.own(rec.State)
			}
			list = append(list, survivor{bytes.Clone(key), rec})
		}
		return failed == nil
	})
	return list, cmp.Or(err, failed)
}

// journalClear makes a clear durable. What survives it is journalled before: when the clear is
// repeated, the store may already have the new generation, and not yet all that is in it.
func (e *Engine) journalClear(s *slot, meta record.SlotMeta, survivors []survivor) error {
	for _, keeper := range survivors {
		if err := e.journalPut(s, keeper.key, keeper.rec); err != nil {
			return err
		}
	}
	return e.journalMeta(s, opClear, meta)
}

// clear removes every record but the survivors. A new generation leaves to the sweeper
// what the store has of the slot.
func (e *Engine) clear(s *slot, meta record.SlotMeta, survivors []survivor) {
	if !s.whole || s.table.Len() > 0 {
		s.generation++
		e.litter(s)
	}
	e.grow(-s.leave())
	s.table.Clear()
	s.changed, s.whole = nil, true
	s.counters.Replace(engine.SlotStats{}, engine.Leaves{})
	s.reached, s.counted = engine.EndPosition, engine.EndPosition
	s.newest, s.expiry = record.Version{}, 0
	e.setMeta(s, meta)
	for _, keeper := range survivors {
		e.changed(memoryOf(e.set(s, keeper.key, keeper.rec)))
	}
}

// litter notes that the store holds records of former generations of a slot.
func (e *Engine) litter(s *slot) {
	if !s.garbage {
		s.garbage = true
		e.garbage.Add(1)
	}
}

// leave says that all entries leave the table, and returns what memory they take.
func (s *slot) leave() int64 {
	total := int64(0)
	s.table.Ascend(0, func(ref table.Ref) bool {
		total += memoryOf(ref)
		sourceIn(ref).leave()
		return true
	})
	return total
}
