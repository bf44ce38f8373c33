package disk

import (
	"context"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/table"
)

// evictStep is how many entries the clock passes before it lets others have the slot.
const evictStep = 256

// clock goes round over all entries of all slots. What was not used since it came by
// last leaves memory, if the store has it.
type clock struct {
	slot uint16
	pos  engine.Position
}

// evictor keeps the memory within its bounds until ctx ends.
func (e *Engine) evictor(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.evictNow:
		}
		// Twice round: the first time takes the marks, the second the entries. What is
		// still too much then waits to be flushed, which wakes the evictor.
		for turns := 0; turns < 2 && e.crowded() && ctx.Err() == nil; {
			if e.evictStep() {
				turns++
			}
		}
	}
}

// crowded reports whether memory has to be freed: down to a thirtieth below the bound,
// so that it is not for every single record.
func (e *Engine) crowded() bool { return e.memory.Load() > e.opt.Cache-e.opt.Cache/32 }

// evictStep moves the clock on and reports whether it has come round.
func (e *Engine) evictStep() (round bool) {
	s := &e.slots[e.clock.slot]
	s.mu.Lock()
	defer s.mu.Unlock()
	type place struct {
		pos engine.Position
		key string
	}
	var idle []place
	n, next := 0, engine.EndPosition
	last := engine.EndPosition
	s.table.Ascend(e.clock.pos, func(ref table.Ref) bool {
		if n >= evictStep && ref.Position() != last {
			next = ref.Position()
			return false
		}
		n, last = n+1, ref.Position()
		switch marks := ref.Marks(); {
		case marks&used != 0:
			ref.Mark(marks &^ used)
		case marks&pinned == 0:
			idle = append(idle, place{ref.Position(), ref.Key()})
		}
		return true
	})
	for _, p := range idle {
		if !e.crowded() {
			return false
		}
		e.drop(s, p.pos, view(p.key))
		s.whole, s.loading = false, false
	}
	e.clock.pos = next
	if next == engine.EndPosition {
		e.clock.slot, e.clock.pos = (e.clock.slot+1)%engine.Slots, 0
		return e.clock.slot == 0
	}
	return false
}
