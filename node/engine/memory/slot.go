package memory

import (
	"sync/atomic"
	"unsafe"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// slot is one slot: its state, its records, and what they add up to. The caller
// serialises all access, except to the counters.
type slot struct {
	table    table
	counters counters
	// newest is not below the version of any record in the table.
	newest record.Version
	meta   record.SlotMeta
	last   last
}

// last remembers where the last key was found: a write looks at its key and then
// stores it. The caller's bytes are compared by address first, so that a miss costs
// nothing, and then by content, for they may have changed.
type last struct {
	bytes *byte
	at    ref
}

func (l *last) find(key []byte) (ref, bool) {
	if l.bytes == nil || l.bytes != unsafe.SliceData(key) || l.at.key() != string(key) {
		return ref{}, false
	}
	return l.at, true
}

func (s *slot) get(key []byte) (record.Record, bool) {
	if e, found := s.last.find(key); found {
		return e.record(), true
	}
	e, found := s.table.find(engine.PositionOf(key), key)
	if !found {
		return record.Record{}, false
	}
	s.last = last{unsafe.SliceData(key), e}
	return e.record(), true
}

func (s *slot) put(key []byte, rec record.Record) {
	stats := s.counters.load()
	e, found := s.last.find(key)
	if !found {
		e, found = s.table.upsert(engine.PositionOf(key), key)
		s.last = last{} // entries may have moved
	}
	if found {
		stats.Remove(key, e.record())
	}
	e.set(rec)
	stats.Add(key, rec)
	s.counters.store(stats)
	s.newest = record.Max(s.newest, rec.Version)
}

func (s *slot) delete(key []byte) {
	s.last = last{}
	old, found := s.table.remove(engine.PositionOf(key), key)
	if !found {
		return
	}
	stats := s.counters.load()
	stats.Remove(key, old)
	s.counters.store(stats)
}

func (s *slot) clear(meta record.SlotMeta) {
	var (
		kept   table
		newest record.Version
		stats  engine.SlotStats
	)
	if meta.Cleared.Less(s.newest) {
		s.scan(0, func(pos engine.Position, key []byte, rec record.Record) bool {
			if meta.Cleared.Less(rec.Version) {
				e, _ := kept.upsert(pos, key)
				e.set(rec)
				stats.Add(key, rec)
				newest = record.Max(newest, rec.Version)
			}
			return true
		})
	}
	s.meta, s.table, s.newest, s.last = meta, kept, newest, last{}
	s.counters.store(stats)
}

func (s *slot) scan(from engine.Position, visit func(engine.Position, []byte, record.Record) bool) {
	// Visitors borrow the key. A copy that is overwritten for the next one shows
	// those who keep it their mistake, and saves those who change it from worse.
	var key []byte
	s.table.ascend(from, func(e ref) bool {
		key = append(key[:0], e.key()...)
		return visit(e.position(), key, e.record())
	})
}

// counters are the slot's stats. Whoever has the slot writes them, Totals reads
// them at any time.
type counters struct{ live, tombstones, bytes, digest atomic.Uint64 }

func (c *counters) load() engine.SlotStats {
	return engine.SlotStats{
		Live:       c.live.Load(),
		Tombstones: c.tombstones.Load(),
		Bytes:      c.bytes.Load(),
		Digest:     c.digest.Load(),
	}
}

func (c *counters) store(s engine.SlotStats) {
	storeChanged(&c.live, s.Live)
	storeChanged(&c.tombstones, s.Tombstones)
	storeChanged(&c.bytes, s.Bytes)
	storeChanged(&c.digest, s.Digest)
}

// storeChanged spares an atomic store, which costs many times an atomic load.
// There is one writer, so nothing can come between the two.
func storeChanged(counter *atomic.Uint64, value uint64) {
	if counter.Load() != value {
		counter.Store(value)
	}
}
