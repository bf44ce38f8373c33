package memory

import (
	"sync/atomic"
	"unsafe"

	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/table"
)

// slot is one slot: its state, its records, and what they add up to. The caller
// serialises all access, except to the counters.
//
// The order of the fields is that of their use: what a write touches, up to the head of the table, fills two lines of cache.
type slot struct {
	counters engine.Counters
	// newest is not below the version of any record in the table.
	newest record.Version
	table  table.Table

	meta record.SlotMeta
	// expiring is how many live records expire.
	expiring atomic.Int64

	_ [8]byte // memory is given out in pieces of 384 bytes, which begin with a line of cache, but not of 376
}

// prefetch brings near what get touches of the slot, or put.
func (s *slot) prefetch(use engine.Use) {
	const end = unsafe.Offsetof(s.table) + table.Head
	if use.Writes() {
		prefetch.Span(unsafe.Pointer(s), end)
		return
	}
	prefetch.Span(unsafe.Pointer(&s.table), table.Head)
}

func (s *slot) get(key []byte) (record.Record, bool) {
	e, found := s.table.Find(engine.PositionOf(key), key)
	if !found {
		return record.Record{}, false
	}
	return e.Record(), true
}

func (s *slot) put(key []byte, rec record.Record) {
	pos, stats := engine.PositionOf(key), s.counters.Load()
	e, found := s.table.Upsert(pos, key)
	if found {
		old := e.Record()
		stats.Remove(key, old)
		s.expires(old, -1)
	}
	e.Set(rec)
	s.expires(rec, 1)
	stats.Add(key, rec)
	s.counters.Change(pos, stats)
	s.newest = record.Max(s.newest, rec.Version)
}

func (s *slot) patch(key []byte, version record.Version, delta []byte) bool {
	pos := engine.PositionOf(key)
	e, found := s.table.Find(pos, key)
	if !found {
		return false
	}
	old := e.Record()
	p, ok := record.PatchOf(old.State, delta)
	if !ok {
		return false
	}
	e.Patch(version, p)
	s.counters.Renew(pos, old.Version, version)
	s.newest = record.Max(s.newest, version)
	return true
}

// expires counts a record in or out that expires. Most do not.
func (s *slot) expires(rec record.Record, n int64) {
	if rec.State.ExpireAt != 0 && rec.State.Live() {
		s.expiring.Add(n)
	}
}

// expired visits what has expired. Only a complete pass knows what expires next, 0 for nothing.
func (s *slot) expired(now int64, visit func(key []byte) bool) (next int64, complete bool) {
	complete = true
	s.scan(0, func(_ engine.Position, key []byte, rec record.Record) bool {
		next = engine.Earlier(next, rec.State)
		complete = !rec.State.Live() || !rec.State.Expired(now) || visit(key)
		return complete
	})
	return next, complete
}

func (s *slot) delete(key []byte) {
	pos := engine.PositionOf(key)
	old, found := s.table.Remove(pos, key)
	if !found {
		return
	}
	stats := s.counters.Load()
	stats.Remove(key, old)
	s.expires(old, -1)
	s.counters.Change(pos, stats)
}

// clear returns when the first record that is left expires, 0 for never.
func (s *slot) clear(meta record.SlotMeta) (expiry int64) {
	var (
		kept   = s.table.Another()
		newest record.Version
		stats  engine.SlotStats
		leaves engine.Leaves
	)
	s.expiring.Store(0)
	if meta.Cleared.Less(s.newest) {
		s.scan(0, func(pos engine.Position, key []byte, rec record.Record) bool {
			if meta.Cleared.Less(rec.Version) {
				e, _ := kept.Upsert(pos, key)
				e.Set(rec)
				s.expires(rec, 1)
				stats.Add(key, rec)
				leaves.Add(pos, rec.Version)
				newest = record.Max(newest, rec.Version)
				expiry = engine.Earlier(expiry, rec.State)
			}
			return true
		})
	}
	s.table.Replace(&kept)
	s.meta, s.newest = meta, newest
	s.counters.Replace(stats, leaves)
	return expiry
}

func (s *slot) reset(meta record.SlotMeta) {
	s.table.Clear()
	s.expiring.Store(0)
	s.meta, s.newest = meta, record.Version{}
	s.counters.Replace(engine.SlotStats{}, engine.Leaves{})
}

func (s *slot) scan(from engine.Position, visit func(engine.Position, []byte, record.Record) bool) {
	// Visitors borrow the key. A copy that is overwritten for the next one shows
	// those who keep it their mistake, and saves those who change it from worse.
	var key []byte
	s.table.Ascend(from, func(e table.Ref) bool {
		key = e.AppendKey(key[:0])
		return visit(e.Position(), key, e.Record())
	})
}
