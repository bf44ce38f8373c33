// Package memory is the engine that keeps everything in the process's memory. A
// node that uses it has no state after a restart, and comes back as a new replica.
//
// Every slot has its own table.Table, which is ordered by engine.Position.
package memory

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
	"github.com/quolldb/quoll/node/engine/table"
)

// Engine is an engine.Engine in memory. No call blocks. Its memory is freed with
// the Engine, not by Close.
type Engine struct {
	closed atomic.Bool
	// arena has the tables' memory.
	arena *arena.Arena
	bound bound
	// slots are made when they are first written to. The pointers are atomic for
	// Totals, which does not synchronise with the writers of the slots.
	slots [engine.Slots]atomic.Pointer[slot]
	// expiries are not above the first expiry of any live record of each slot, 0 if none has
	// one. All are looked at again and again, so they are together, and not in the slots, which
	// are far apart. The caller serialises access to a slot's.
	expiries [engine.Slots]int64
}

var (
	_ engine.Instant  = (*Engine)(nil)
	_ engine.Evicting = (*Engine)(nil)
)

// New returns an empty engine without a limit.
func New() *Engine { return NewWithin(0) }

// NewWithin returns an empty engine that keeps so many bytes of keys and values, its tables included: with more it has
// no Room (engine.ErrCrowded), with an eighth more neither for what other nodes have written (engine.ErrBrimful). 0 stands for no limit. It evicts nothing until SetEviction.
func NewWithin(limit int64) *Engine {
	e := &Engine{arena: arena.New()}
	e.bound.limit.Store(limit)
	e.SetEviction(eviction.DefaultSettings())
	runtime.AddCleanup(e, (*arena.Arena).Release, e.arena)
	return e
}

// lookup returns a slot, nil if nothing was ever written to it.
func (e *Engine) lookup(number uint16) (*slot, error) {
	if e.closed.Load() {
		return nil, engine.ErrClosed
	}
	if number >= engine.Slots {
		return nil, fmt.Errorf("%w: %d, the last is %d", engine.ErrSlot, number, engine.Slots-1)
	}
	return e.slots[number].Load(), nil
}

// obtain returns a slot and makes it if necessary.
func (e *Engine) obtain(number uint16) (*slot, error) {
	s, err := e.lookup(number)
	if err != nil || s != nil {
		return s, err
	}
	s = &slot{table: table.Make(e.arena)}
	e.slots[number].Store(s)
	return s, nil
}

// Slot implements engine.Engine.
func (e *Engine) Slot(number uint16) (record.SlotMeta, error) {
	s, err := e.lookup(number)
	if s == nil {
		return record.SlotMeta{}, err
	}
	return s.meta, nil
}

// PutSlot implements engine.Engine.
func (e *Engine) PutSlot(number uint16, meta record.SlotMeta) error {
	s, err := e.obtain(number)
	if err != nil {
		return err
	}
	s.meta = meta
	return nil
}

// Get implements engine.Engine. It allocates nothing.
func (e *Engine) Get(number uint16, key []byte) (record.Record, bool, error) {
	s, err := e.lookup(number)
	if s == nil {
		return record.Record{}, false, err
	}
	rec, found := s.get(key)
	return rec, found, nil
}

// Put implements engine.Engine. Overwriting a key allocates nothing.
func (e *Engine) Put(number uint16, key []byte, rec record.Record) error {
	s, err := e.obtain(number)
	if err != nil {
		return err
	}
	s.put(key, rec)
	if e.bound.tracks.Load() {
		e.use(s, key)
	}
	if rec.State.ExpireAt != 0 { // few do: for others the array is not even read
		e.expiries[number] = engine.Earlier(e.expiries[number], rec.State)
	}
	return nil
}

// Change implements engine.Engine.
func (e *Engine) Change(number uint16, key []byte, rec record.Record, _ record.Version, _ []byte) error {
	return e.Put(number, key, rec)
}

// Patch implements engine.Engine. It touches no other byte of the value.
func (e *Engine) Patch(number uint16, key []byte, version, _ record.Version, delta []byte) error {
	s, err := e.lookup(number)
	if err != nil {
		return err
	}
	if s == nil || !s.patch(key, version, delta) {
		return fmt.Errorf("%w: in slot %d", engine.ErrPatch, number)
	}
	return nil
}

// Delete implements engine.Engine.
func (e *Engine) Delete(number uint16, key []byte) error {
	s, err := e.lookup(number)
	if s == nil {
		return err
	}
	s.delete(key)
	return nil
}

// Clear implements engine.Engine. It takes constant time unless the slot holds a
// record that is newer than the clear, and linear time then.
func (e *Engine) Clear(number uint16, meta record.SlotMeta) error {
	s, err := e.obtain(number)
	if err != nil {
		return err
	}
	e.expiries[number] = s.clear(meta)
	return nil
}

// Reset implements engine.Engine.
func (e *Engine) Reset(number uint16, meta record.SlotMeta) error {
	s, err := e.obtain(number)
	if err != nil {
		return err
	}
	s.reset(meta)
	e.expiries[number] = 0
	return nil
}

// Scan implements engine.Engine. Finding the start takes constant time.
func (e *Engine) Scan(number uint16, from engine.Position, visit func(engine.Position, []byte, record.Record) bool) error {
	s, err := e.lookup(number)
	if s == nil {
		return err
	}
	s.scan(from, visit)
	return nil
}

// Expired implements engine.Engine. It touches nothing of a slot in which nothing has expired.
func (e *Engine) Expired(number uint16, now int64, visit func(key []byte) bool) (looked bool, err error) {
	s, err := e.lookup(number)
	if s == nil {
		return false, err
	}
	if first := e.expiries[number]; first == 0 || first > now {
		return false, nil
	}
	if next, complete := s.expired(now, visit); complete {
		e.expiries[number] = next
	}
	return true, nil
}

// Usage implements engine.Engine: nothing is on a disk.
func (e *Engine) Usage() engine.Usage { return engine.Usage{} }

// Present implements engine.Engine: nothing can go.
func (e *Engine) Present() error { return nil }

// Stats implements engine.Engine.
func (e *Engine) Stats(number uint16) (engine.SlotStats, error) {
	s, err := e.lookup(number)
	if s == nil {
		return engine.SlotStats{}, err
	}
	return s.counters.Load(), nil
}

// Leaves implements engine.Engine.
func (e *Engine) Leaves(number uint16) (engine.Leaves, error) {
	s, err := e.lookup(number)
	if s == nil {
		return engine.Leaves{}, err
	}
	return s.counters.Leaves(), nil
}

// Correct implements engine.Engine.
func (e *Engine) Correct(number uint16, stats engine.SlotStats, leaves engine.Leaves) error {
	s, err := e.lookup(number)
	if s != nil {
		s.counters.Replace(stats, leaves)
	}
	return err
}

// Totals implements engine.Engine. It blocks nobody: writes that run at the same
// time may be counted in part.
func (e *Engine) Totals() (engine.SlotStats, error) {
	if e.closed.Load() {
		return engine.SlotStats{}, engine.ErrClosed
	}
	var sum engine.SlotStats
	for i := range e.slots {
		if s := e.slots[i].Load(); s != nil {
			sum.Merge(s.counters.Load())
		}
	}
	return sum, nil
}

// Commit implements engine.Engine. What is staged is as durable as it will ever
// be, so it calls done before it returns.
func (e *Engine) Commit(done func(error)) {
	if e.closed.Load() {
		done(engine.ErrClosed)
		return
	}
	done(nil)
}

// Instant implements engine.Instant.
func (e *Engine) Instant() {}

// Close implements engine.Engine.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return engine.ErrClosed
	}
	return nil
}
