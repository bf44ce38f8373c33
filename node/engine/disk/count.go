package disk

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// count takes a record into the counts, if the pass has reached its place.
func (s *slot) count(pos engine.Position, key []byte, rec record.Record) {
	s.newest = record.Max(s.newest, rec.Version)
	s.expiry = engine.Earlier(s.expiry, rec.State)
	if pos < s.counted {
		stats := s.counters.Load()
		stats.Add(key, rec)
		s.counters.Change(pos, stats)
	}
}

// discount takes a record out of the counts.
func (s *slot) discount(pos engine.Position, key []byte, rec record.Record) {
	if pos < s.counted {
		stats := s.counters.Load()
		stats.Remove(key, rec)
		s.counters.Change(pos, stats)
	}
}

// countAll reads what is left to count of a slot.
func (e *Engine) countAll(s *slot) error {
	for s.counted < engine.EndPosition {
		if _, err := e.readOn(s); err != nil {
			return err
		}
	}
	return nil
}
