package memory

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/table"
)

// bound is how much memory the data may take, and what is done when they take more.
type bound struct {
	limit     atomic.Int64 // in bytes, 0 for none
	shrinking atomic.Int64 // how much there was when the limit was set to less than that; 0 once there is no more than the limit
	settings  atomic.Pointer[eviction.Settings]
	clock     atomic.Uint32 // an eviction.Clock
	tracks    atomic.Bool   // the use of keys is noted
	exhausted atomic.Bool   // there is nothing to evict
}

const (
	// While keys are evicted the data may take a part of the limit more: writes wait from a patient part on, and are refused from a tolerant part on.
	patient, tolerant = 64, 16
	// brimful is the part of it beyond which what other homes wrote is not taken either.
	brimful = 8
	// longestPause is how long writes wait for the evictions to catch up at most, each time that a few of them are about to add something.
	longestPause = 100 * time.Millisecond
	// entrySize is what a record takes beside its key and value.
	entrySize = 80
	// sampleMost bounds how many records Sample looks at.
	sampleMost = 2048
)

// Eviction implements engine.Evicting.
func (e *Engine) Eviction() *eviction.Settings { return e.bound.settings.Load() }

// SetEviction implements engine.Evicting.
func (e *Engine) SetEviction(s eviction.Settings) {
	e.bound.settings.Store(&s)
	e.bound.tracks.Store(s.Policy.Tracks() != eviction.TrackNothing)
	e.bound.exhausted.Store(false)
}

// Memory implements engine.Evicting.
func (e *Engine) Memory() (used, limit int64) { return e.arena.Used(), e.bound.limit.Load() }

// SetLimit implements engine.Evicting. What is beyond a lower limit is evicted, if anything is: writes go on meanwhile, as long as there is no more than before.
func (e *Engine) SetLimit(limit int64) {
	e.bound.limit.Store(limit)
	if used := e.arena.Used(); limit == 0 || used <= limit {
		e.bound.shrinking.Store(0)
	} else {
		e.bound.shrinking.Store(used)
	}
}

// SetExhausted implements engine.Evicting.
func (e *Engine) SetExhausted(is bool) { e.bound.exhausted.Store(is) }

// SetClock implements engine.Evicting.
func (e *Engine) SetClock(c eviction.Clock) { e.bound.clock.Store(uint32(c)) }

// Tracks implements engine.Evicting.
func (e *Engine) Tracks() bool { return e.bound.tracks.Load() }

// evicts reports whether keys make room for others.
func (b *bound) evicts() bool {
	return b.settings.Load().Policy != eviction.NoEviction && !b.exhausted.Load()
}

// Room implements engine.Engine.
func (e *Engine) Room() error {
	used, limit := e.Memory()
	shrinking := e.bound.shrinking.Load()
	if limit == 0 || used <= limit {
		if shrinking > 0 {
			e.bound.shrinking.CompareAndSwap(shrinking, 0)
		}
		return nil
	}
	most := limit
	if e.bound.evicts() {
		most = max(limit, shrinking)
		if used <= most+most/tolerant {
			return nil
		}
	}
	short := engine.ErrCrowded
	if used > most+most/brimful {
		short = engine.ErrBrimful
	}
	const mib = 1 << 20
	return fmt.Errorf("%w: %d MiB of memory are in use, of %d MiB", short, used/mib, limit/mib)
}

// Pause implements engine.Engine: the more there is beyond the limit, the longer is waited until keys have gone.
func (e *Engine) Pause() time.Duration {
	used, limit := e.Memory()
	over, most := used-limit-limit/patient, limit/tolerant-limit/patient
	if limit == 0 || over <= 0 || !e.bound.evicts() {
		return 0
	}
	part := min(1, float64(over)/float64(most))
	return time.Duration(float64(longestPause) * part * part)
}

// Use implements engine.Evicting.
func (e *Engine) Use(number uint16, key []byte) {
	if s, err := e.lookup(number); err == nil && s != nil && e.Tracks() {
		e.use(s, key)
	}
}

// use notes that a key is used.
func (e *Engine) use(s *slot, key []byte) {
	ref, found := s.table.Find(engine.PositionOf(key), key)
	if !found {
		return
	}
	settings, now := e.bound.settings.Load(), eviction.Clock(e.bound.clock.Load())
	u, known := ref.Usage()
	switch {
	case !known || u == 0:
		u = eviction.New(now, settings)
	case settings.Policy.Tracks() == eviction.TrackFrequency:
		u = u.Used(now, settings, rand.Uint32())
	default:
		u = u.Used(now, settings, 0)
	}
	ref.SetUsage(u)
}

// Used implements engine.Evicting.
func (e *Engine) Used(number uint16, key []byte) (u eviction.Usage, known bool) {
	s, err := e.lookup(number)
	if err != nil || s == nil || !e.Tracks() {
		return 0, false
	}
	if ref, found := s.table.Find(engine.PositionOf(key), key); found {
		return ref.Usage()
	}
	return 0, false
}

// Evictable implements engine.Evicting.
func (e *Engine) Evictable(number uint16) int {
	s, err := e.lookup(number)
	switch {
	case err != nil || s == nil:
		return 0
	case e.bound.settings.Load().Policy.Volatile():
		return int(s.expiring.Load())
	}
	return int(s.counters.Load().Live)
}

// Sample implements engine.Evicting.
func (e *Engine) Sample(number uint16, from engine.Position, visit func(engine.Sampled) bool) {
	s, err := e.lookup(number)
	if err != nil || s == nil {
		return
	}
	policy, left, more := e.bound.settings.Load().Policy, sampleMost, true
	var key []byte
	look := func(ref table.Ref) bool {
		if left--; left < 0 {
			return false
		}
		rec := ref.Record()
		if !rec.State.Live() || !policy.Evicts(rec.State.ExpireAt) {
			return true
		}
		if key = ref.AppendKey(key[:0]); database.Own(key) {
			return true
		}
		u, _ := ref.Usage()
		more = visit(engine.Sampled{Key: key, Version: rec.Version, ExpireAt: rec.State.ExpireAt, Usage: u, Size: ref.Memory() + entrySize})
		return more
	}
	s.table.Ascend(from, look)
	if more {
		s.table.Ascend(0, func(ref table.Ref) bool { return ref.Position() < from && look(ref) })
	}
}
